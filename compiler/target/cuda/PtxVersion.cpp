// Table of PTX versions by target, opcode and modifier. An opcode is looked up
// by its base mnemonic; a mnemonic outside the table keeps the version that
// NVRTC wrote, so that a wrong guess can only cost compatibility, never
// correctness. Modifiers that came later than their mnemonic raise the version.
#include "compiler/target/cuda/PtxVersion.h"

#include <algorithm>
#include <charconv>

namespace llmc::cuda {
namespace {

struct TargetRow {
  std::string_view Name;
  PtxVersion Needs;
};
constexpr TargetRow Targets[] = {
    {"sm_75", {6, 3}},   {"sm_80", {7, 0}},  {"sm_86", {7, 1}},
    {"sm_87", {7, 4}},   {"sm_89", {7, 8}},  {"sm_90", {7, 8}},
    {"sm_90a", {8, 0}},  {"sm_100", {8, 6}}, {"sm_100a", {8, 6}},
    {"sm_103", {8, 8}},  {"sm_110", {9, 0}}, {"sm_120", {8, 7}},
    {"sm_120a", {8, 7}}, {"sm_121", {8, 8}},
};

// Mnemonics of PTX 7.0 and before; nothing about them is newer except what
// Modifiers lists.
constexpr std::string_view Old[] = {
    "abs",      "activemask", "add",      "addc", "and",      "atom",
    "bar",      "barrier",    "bfe",      "bfi",  "bfind",    "bmsk",
    "bra",      "brev",       "brx",      "call", "clz",      "cnot",
    "copysign", "cos",        "cp",       "cvt",  "cvta",     "discard",
    "div",      "dp2a",       "dp4a",     "ex2",  "exit",     "fence",
    "fma",      "fns",        "isspacep", "ld",   "ldmatrix", "ldu",
    "lg2",      "lop3",       "mad",      "madc", "match",    "max",
    "mbarrier", "membar",     "min",      "mma",  "mov",      "mul",
    "mul24",    "nanosleep",  "neg",      "not",  "or",       "popc",
    "prefetch", "prmt",       "rcp",      "red",  "redux",    "rem",
    "ret",      "rsqrt",      "sad",      "selp", "set",      "setp",
    "shf",      "shfl",       "shl",      "shr",  "sin",      "slct",
    "sqrt",     "st",         "sub",      "subc", "szext",    "tanh",
    "testp",    "trap",       "vote",     "xor",
};

struct NewRow {
  std::string_view Text;
  PtxVersion Needs;
};
// Mnemonics newer than 7.0.
constexpr NewRow Mnemonics[] = {
    {"applypriority", {7, 4}}, {"createpolicy", {7, 4}},
    {"getctarank", {7, 8}},    {"griddepcontrol", {7, 8}},
    {"mapa", {7, 8}},          {"movmatrix", {7, 8}},
    {"stmatrix", {7, 8}},      {"elect", {8, 0}},
    {"setmaxnreg", {8, 0}},    {"wgmma", {8, 0}},
    {"multimem", {8, 1}},      {"tcgen05", {8, 6}},
};
// Parts of an opcode that are newer than its mnemonic, as substrings.
constexpr NewRow Modifiers[] = {
    {"cp.async.bulk", {8, 0}},
    {"cp.reduce", {8, 0}},
    {".L2::", {7, 4}},
    {".level::", {7, 4}},
    {".L1::evict", {7, 4}},
    {".L1::no_allocate", {7, 4}},
    {".cache_hint", {7, 4}},
    {"cluster", {7, 8}},
    {".e4m3", {8, 1}},
    {".e5m2", {8, 1}},
    {".e2m1", {8, 6}},
    {".e2m3", {8, 6}},
    {".e3m2", {8, 6}},
    {".ue8m0", {8, 6}},
    {".b128", {8, 3}},
    {"f32x2", {8, 6}},
    {".v8", {8, 8}},
    {".v4.b64", {8, 8}},
    {".v4.u64", {8, 8}},
    {".v4.s64", {8, 8}},
    {".v4.f64", {8, 8}},
    {".xorsign", {7, 2}},
    {"fence.proxy", {8, 0}},
    {"fence.mbarrier", {8, 0}},
    {"expect_tx", {8, 0}},
    {"try_wait", {7, 8}},
    {"mbarrier.complete", {8, 0}},
    {".sp::ordered", {8, 5}},
    {"redux.sync.min.f32", {8, 6}},
    {"redux.sync.max.f32", {8, 6}},
    {"add.bf16", {7, 8}},
    {"sub.bf16", {7, 8}},
    {"mul.bf16", {7, 8}},
    {"add.rn.bf16", {7, 8}},
    {"sub.rn.bf16", {7, 8}},
    {"mul.rn.bf16", {7, 8}},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e", {8, 4}},
    {"stmatrix.sync.aligned.m16n8", {8, 6}},
    {"ldmatrix.sync.aligned.m8n16", {8, 6}},
    {"ldmatrix.sync.aligned.m16n16", {8, 6}},
};

std::string_view trim(std::string_view S) {
  while (!S.empty() && (S.front() == ' ' || S.front() == '\t'))
    S.remove_prefix(1);
  while (!S.empty() && (S.back() == ' ' || S.back() == '\r'))
    S.remove_suffix(1);
  return S;
}

/// First word of S; S becomes the rest.
std::string_view word(std::string_view &S) {
  size_t End = std::min(S.find_first_of(" \t;"), S.size());
  std::string_view W = S.substr(0, End);
  S = trim(S.substr(End));
  return W;
}

bool parseVersion(std::string_view S, PtxVersion &V) {
  const char *End = S.data() + S.size();
  std::from_chars_result R = std::from_chars(S.data(), End, V.Major);
  if (R.ec != std::errc() || R.ptr == End || *R.ptr != '.')
    return false;
  return std::from_chars(R.ptr + 1, End, V.Minor).ec == std::errc();
}

/// Version that one opcode needs; Stated when it is unknown.
PtxVersion opcodeNeeds(std::string_view Opcode, PtxVersion Stated) {
  std::string_view Base = Opcode.substr(0, Opcode.find('.'));
  PtxVersion Needs{7, 0};
  const NewRow *New =
      std::find_if(std::begin(Mnemonics), std::end(Mnemonics),
                   [&](const NewRow &R) { return R.Text == Base; });
  if (New != std::end(Mnemonics))
    Needs = New->Needs;
  else if (std::find(std::begin(Old), std::end(Old), Base) == std::end(Old))
    return Stated;
  for (const NewRow &R : Modifiers)
    if (Needs < R.Needs && Opcode.find(R.Text) != std::string_view::npos)
      Needs = R.Needs;
  return Needs;
}

/// The opcode of a line, or empty for labels, directives and punctuation.
std::string_view opcodeOf(std::string_view Line) {
  std::string_view Op = word(Line);
  if (Op.starts_with('@')) // predicate
    Op = word(Line);
  if (Op.empty() || Op.ends_with(':') || Op.front() < 'a' || Op.front() > 'z')
    return {};
  return Op;
}

// Directives that came after 7.0.
constexpr NewRow Directives[] = {
    {".explicitcluster", {7, 8}},
    {".reqnctapercluster", {7, 8}},
    {".maxclusterrank", {7, 8}},
    {".alias", {6, 3}},
    {".blocksareclusters", {9, 0}},
    {".noreturn", {6, 4}},
    {".loc", {7, 2}}, // its inlined_at
};

} // namespace

Result<PtxVersion> neededPtxVersion(std::string_view Ptx) {
  PtxVersion Stated, Needs;
  bool HasTarget = false;
  while (!Ptx.empty()) {
    size_t End = std::min(Ptx.find('\n'), Ptx.size());
    std::string_view Line = trim(Ptx.substr(0, End));
    Ptx.remove_prefix(std::min(End + 1, Ptx.size()));
    Line = trim(Line.substr(0, std::min(Line.find("//"), Line.size())));
    if (Line.starts_with(".version")) {
      if (!parseVersion(trim(Line.substr(8)), Stated))
        return malformedError("ptx has a bad .version line");
    } else if (Line.starts_with(".target")) {
      std::string_view Name = trim(Line.substr(7));
      Name = Name.substr(0, Name.find(','));
      const TargetRow *T =
          std::find_if(std::begin(Targets), std::end(Targets),
                       [&](const TargetRow &R) { return R.Name == Name; });
      PtxVersion V = T != std::end(Targets) ? T->Needs : Stated;
      Needs = std::max(Needs, V);
      HasTarget = true;
    } else if (Line.starts_with('.')) {
      for (const NewRow &R : Directives)
        if (Line.starts_with(R.Text))
          Needs = std::max(Needs, R.Needs);
    } else if (std::string_view Op = opcodeOf(Line); !Op.empty()) {
      Needs = std::max(Needs, opcodeNeeds(Op, Stated));
    }
  }
  if (Stated == PtxVersion() || !HasTarget)
    return malformedError("ptx has no .version or no .target line");
  return std::min(Needs, Stated);
}

Result<std::string> relabelPtx(std::string_view Ptx) {
  LLMC_ASSIGN_OR_RETURN(PtxVersion V, neededPtxVersion(Ptx));
  size_t At = Ptx.find("\n.version") + 1; // 0 when it is the first line
  if (At == 0 && !Ptx.starts_with(".version"))
    return malformedError("ptx has no .version line of its own");
  size_t End = std::min(Ptx.find('\n', At), Ptx.size());
  std::string Out(Ptx.substr(0, At));
  Out += ".version " + std::to_string(V.Major) + "." + std::to_string(V.Minor);
  Out += Ptx.substr(End);
  return Out;
}

} // namespace llmc::cuda
