// PTX text to a module: variables get memory, kernels their internal form.
#include "tools/cudasim/driver/Chip.h"
#include "tools/cudasim/driver/State.h"
#include "tools/cudasim/program/Lowering.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace llmc::cudasim {
namespace {

[[noreturn]] void refuse(int Code, const std::string &Text) {
  PtxError E(0, Text);
  E.Code = Code;
  throw E;
}

void checkVersion(const PtxModule &M) {
  unsigned Most = settings().MaxPtx;
  auto Text = [](unsigned V) {
    return std::to_string(V / 10) + "." + std::to_string(V % 10);
  };
  if (Most && M.Version > Most)
    refuse(UnsupportedPtx, "PTX version " + Text(M.Version) +
                               ", supported up to " + Text(Most));
  const GpuChip &C = chip();
  unsigned Here = static_cast<unsigned>(C.Major * 10 + C.Minor);
  if (M.Target > Here)
    refuse(InvalidPtx, "PTX for sm_" + std::to_string(M.Target) +
                           ", the device is sm_" + std::to_string(Here));
}

/// Memory for .global and .const variables.
void placeVariables(Context &C, const PtxModule &P, Module &M) {
  for (const Variable &V : P.Variables) {
    if (V.Where == Space::Shared || M.Symbols.count(V.Name))
      continue;
    if (V.Extern)
      refuse(InvalidPtx, "variable " + V.Name + " is not defined");
    uint64_t At = C.Memory.alloc(std::max<uint64_t>(V.Bytes, 1), V.Name);
    if (!At)
      refuse(OutOfMemory, "no memory for variable " + V.Name + " of " +
                              std::to_string(V.Bytes) + " bytes");
    std::memset(reinterpret_cast<void *>(At), 0, V.Bytes);
    M.Symbols[V.Name] = {V.Where, At, V.Bytes};
  }
  for (const Variable &V : P.Variables) {
    if (V.Where == Space::Shared)
      continue;
    uint8_t *At = reinterpret_cast<uint8_t *>(M.Symbols[V.Name].Address);
    if (!V.Init.empty())
      std::memcpy(At, V.Init.data(), V.Init.size());
    for (const Variable::Address &A : V.Addresses) {
      auto It = M.Symbols.find(A.Symbol);
      if (It == M.Symbols.end())
        refuse(InvalidPtx, "variable " + V.Name + " holds the address of " +
                               A.Symbol + ", which is not supported");
      uint64_t Value = It->second.Address + static_cast<uint64_t>(A.Added);
      std::memcpy(At + A.Offset, &Value, 8);
    }
    if (V.Where == Space::Const)
      C.Memory.setReadOnly(M.Symbols[V.Name].Address);
  }
}
} // namespace

/// $LLMC_CUDASIM_PTX: a file to use in place of every module, for experiments
/// with the kernels of an artifact.
static std::string replacement() {
  const char *Path = std::getenv("LLMC_CUDASIM_PTX");
  if (!Path || !*Path)
    return "";
  std::ifstream File(Path, std::ios::binary);
  std::string Text((std::istreambuf_iterator<char>(File)),
                   std::istreambuf_iterator<char>());
  if (Text.empty())
    refuse(InvalidPtx, std::string("cannot read ") + Path);
  return Text;
}

std::unique_ptr<Module> loadModule(Context &C, std::string_view Text) {
  std::string Other = replacement();
  PtxModule P = parsePtx(Other.empty() ? Text : Other);
  checkVersion(P);
  std::unique_ptr<Module> M = std::make_unique<Module>();
  M->Of = &C;
  M->Target = P.Target;
  try {
    placeVariables(C, P, *M);
    for (const Function &F : P.Functions) {
      if (!F.Entry || !F.Defined)
        continue;
      std::unique_ptr<DeviceFunction> D = std::make_unique<DeviceFunction>();
      D->Of = M.get();
      D->Prog = std::make_shared<Program>(Lowering(P, F, M->Symbols).run());
      resolveHandlers(*D->Prog);
      M->Functions.push_back(std::move(D));
    }
  } catch (...) {
    unloadModule(C, *M);
    throw;
  }
  return M;
}

void unloadModule(Context &C, Module &M) {
  for (auto &[Name, S] : M.Symbols)
    C.Memory.free(S.Address);
  M.Symbols.clear();
}

unsigned estimatedRegisters(const Program &P) {
  return std::min(255u, std::max(16u, P.LiveRegisters + 6));
}

unsigned residentBlocks(const Program &P, unsigned Threads, unsigned Dynamic) {
  return llmc::residentBlocks(chip(), Threads, estimatedRegisters(P),
                              P.SharedBytes + Dynamic);
}

} // namespace llmc::cudasim
