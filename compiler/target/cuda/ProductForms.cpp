// Few tokens: one launch that norms as it reads (decode form), which leaves a
// layer at five launches. Up to 32: the decode form takes four times eight of
// them, from rows that are prepared once in f16 where they have a norm; without
// one rounding as it reads costs less than another launch. More: prepared rows
// and the tile form. Logits, 32 rows at most, always take the decode form.
#include "compiler/target/cuda/ProductForms.h"

#include "compiler/kernels/ProductShape.h"
#include "compiler/target/cuda/ProductChoice.h"
#include "runtime/device/StepAbi.h"

#include <algorithm>

namespace llmc::cuda {
namespace {

/// Largest buckets of the forms.
constexpr uint32_t FusedTokens = 8, DecodeTokens = 32;

uint32_t ceilDiv(int64_t A, int64_t B) {
  return static_cast<uint32_t>((A + B - 1) / B);
}

bool isExperts(const KernelRequest &R) { return R.Kernel == "experts"; }

int64_t normOf(const KernelRequest &R) {
  return isExperts(R) ? 0 : R.Ints.at("norm");
}

bool isRaw(const KernelRequest &R) {
  return R.Kernel == "qkv" &&
         !kernels::hasTileHeads(R.Ints.at("head_dim"), R.Ints.at("v_head_dim"),
                                R.Ints.at("rotary_half"),
                                R.Ints.at("interleaved") != 0);
}

/// Groups of tiles that blocks or warps own, as the stores of
/// cuda/ProductStore.cuh count them.
int64_t tileGroups(const KernelRequest &R, int64_t Tiles) {
  if (R.Kernel != "qkv" || isRaw(R))
    return ceilDiv(ceilDiv(productSize(R).Rows, 16), Tiles);
  auto Groups = [&](const char *Dim) { return (R.Ints.at(Dim) / 16 + 1) / 2; };
  int64_t Kv = R.Ints.at("kv_heads");
  int64_t PerKv =
      (R.Ints.at("heads") / Kv + 1) * Groups("head_dim") + Groups("v_head_dim");
  return Kv * PerKv;
}

/// Blocks own two tiles that belong together.
bool needsPairs(const KernelRequest &R) {
  return R.Kernel == "qkv" ? !isRaw(R)
                           : R.Kernel == "linear" && R.Ints.at("glu") != 0;
}

DecodeProblem problemOf(const KernelRequest &R, bool Prepared,
                        unsigned TokenTiles) {
  DecodeProblem P;
  P.RowTiles = (productSize(R).Rows + 15) / 16;
  if (isExperts(R)) // of one token
    P.RowTiles *= R.Ints.at("slots");
  P.Cols = productSize(R).Cols;
  P.WType = R.Ints.at("wtype");
  P.Pairs = needsPairs(R);
  P.Prepared = Prepared;
  P.Norm = !Prepared && normOf(R) != 0;
  P.TokenTiles = TokenTiles;
  return P;
}

/// For one token, or for all that one block takes.
ProductForm decodeForm(const KernelRequest &R, bool Prepared,
                       unsigned TokenTiles, std::string_view Target) {
  DecodeProblem P = problemOf(R, Prepared, TokenTiles);
  P.Tokens = TokenTiles == 1 ? 1 : TokenTiles * 8;
  return chooseDecode(P, Target);
}

ProductForm tileForm() {
  ProductForm F;
  F.Kind = FormKind::Tile;
  F.Prepared = true;
  F.Tiles = 2;
  F.TokenGroups = 2;
  F.Stages = 4;
  return F;
}

/// One form with the grids of the buckets that take it.
class FormList {
public:
  FormList(const KernelRequest &R, std::span<const uint32_t> Buckets,
           std::string_view Target)
      : Request(R), Buckets(Buckets), Target(Target) {}

  /// GridOf(bucket) yields the grid, X = 0 for none.
  template <typename Fn> void add(const ProductForm &Form, const Fn &GridOf) {
    KernelForm Out;
    Out.Request = Request;
    Out.Request.Form = Form;
    Out.Request.Form->Early =
        beginsEarly(Target) && !isExperts(Request) && // wait for the route
        (Form.Kind == FormKind::Decode || Form.Kind == FormKind::Tile);
    bool Any = false;
    for (uint32_t B : Buckets) {
      Out.Grids.push_back(GridOf(B));
      Any |= Out.Grids.back().X != 0;
    }
    if (Any)
      Forms.push_back(std::move(Out));
  }
  std::vector<KernelForm> take() { return std::move(Forms); }

private:
  const KernelRequest &Request;
  std::span<const uint32_t> Buckets;
  std::string_view Target;
  std::vector<KernelForm> Forms;
};

constexpr Grid NoGrid = {0, 1, 1};

/// Products of the rows that get logits: eight at a time, or, where a step may
/// have more sequences, prepared and 32 at a time.
void addRowForms(FormList &List, const KernelRequest &R,
                 std::string_view Target) {
  bool IsLogits = R.Kernel == "logits";
  bool Many = IsLogits && R.Present.back() && R.MaxSequences > FusedTokens;
  ProductForm F = decodeForm(R, false, 1, Target),
              Some = decodeForm(R, true, 4, Target);
  auto RowsIn = [&](uint32_t B) {
    return IsLogits ? std::min(B, LLMC_CUDA_LOGIT_ROWS) : B;
  };
  auto GridOf = [&](uint32_t B, const ProductForm &Form) {
    return Grid{static_cast<uint32_t>(tileGroups(R, Form.Tiles)),
                ceilDiv(RowsIn(B), 8 * Form.TokenTiles), 1};
  };
  List.add(F, [&](uint32_t B) {
    return Many && B > FusedTokens ? NoGrid : GridOf(B, F);
  });
  if (!Many)
    return;
  List.add(ProductForm{FormKind::Prepare, true}, [&](uint32_t B) {
    return B > FusedTokens ? Grid{RowsIn(B), 1, 1} : NoGrid;
  });
  List.add(Some, [&](uint32_t B) {
    return B > FusedTokens ? GridOf(B, Some) : NoGrid;
  });
}

void addTokenForms(FormList &List, const KernelRequest &R,
                   std::string_view Target) {
  bool Norm = normOf(R) != 0;
  uint32_t Unprepared = Norm ? FusedTokens : DecodeTokens;
  List.add(ProductForm{FormKind::Prepare, true},
           [&](uint32_t B) { return B > Unprepared ? Grid{B, 1, 1} : NoGrid; });
  ProductForm Fused = decodeForm(R, false, 1, Target),
              Some = decodeForm(R, Norm, 4, Target);
  List.add(Fused, [&](uint32_t B) {
    return B <= FusedTokens
               ? Grid{static_cast<uint32_t>(tileGroups(R, Fused.Tiles)), 1, 1}
               : NoGrid;
  });
  List.add(Some, [&](uint32_t B) {
    return B > FusedTokens && B <= DecodeTokens
               ? Grid{static_cast<uint32_t>(tileGroups(R, Some.Tiles)),
                      ceilDiv(B, 32), 1}
               : NoGrid;
  });
  ProductForm Many = tileForm();
  List.add(Many, [&](uint32_t B) {
    return B > DecodeTokens ? Grid{ceilDiv(tileGroups(R, 2), 4),
                                   ceilDiv(B, 32 * Many.TokenGroups), 1}
                            : NoGrid;
  });
  if (isRaw(R))
    List.add(ProductForm{FormKind::Finish, true},
             [&](uint32_t B) { return Grid{B, 1, 1}; });
}

/// One row per block, or the rows of an expert (cuda/ProductExperts.cuh).
void addExpertForms(FormList &List, const KernelRequest &R,
                    std::string_view Target) {
  uint32_t Slots = static_cast<uint32_t>(R.Ints.at("slots"));
  uint32_t Experts = static_cast<uint32_t>(R.Ints.at("experts"));
  bool Combine = R.Ints.at("combine") != 0;
  int64_t Tiles = R.Ints.at("n") / 16;
  ProductForm One = decodeForm(R, false, 1, Target), Many = tileForm();
  Many.TokenGroups = 1;
  List.add(One, [&](uint32_t B) {
    return B <= FusedTokens
               ? Grid{ceilDiv(Tiles, One.Tiles), B, Combine ? 1 : Slots}
               : NoGrid;
  });
  List.add(ProductForm{FormKind::Prepare, true}, [&](uint32_t B) {
    return B > FusedTokens ? Grid{B, Combine ? Slots : 1, 1} : NoGrid;
  });
  List.add(Many, [&](uint32_t B) {
    return B > FusedTokens ? Grid{ceilDiv(Tiles, 8), Experts, 1} : NoGrid;
  });
  if (Combine)
    List.add(ProductForm{FormKind::Finish, true}, [&](uint32_t B) {
      return B > FusedTokens ? Grid{ceilDiv(R.Ints.at("n"), 128), B, 1}
                             : NoGrid;
    });
}

/// Buffers of experts that a form uses.
bool expertFormUses(const KernelRequest &R, std::string_view Buffer) {
  bool Combine = R.Ints.at("combine") != 0;
  bool Weights = Buffer == "weight" || Buffer == "bias";
  switch (R.Form->Kind) {
  case FormKind::Prepare:
    return !Weights && (Buffer != "out" || !Combine);
  case FormKind::Decode:
    return Buffer != "xq";
  case FormKind::Tile:
    return Weights || Buffer == "xq" || (Buffer == "out" && !Combine);
  case FormKind::Finish:
    return !Weights && Buffer != "x";
  }
  return true;
}

std::string enumText(std::string_view Name, int64_t Value) {
  return "  enum : int { " + std::string(Name) + " = " + std::to_string(Value) +
         " };\n";
}
} // namespace

bool isMmaProduct(const KernelRequest &R) {
  auto W = R.Ints.find("wtype");
  return (R.Kernel == "linear" || R.Kernel == "qkv" || R.Kernel == "logits" ||
          isExperts(R)) &&
         W != R.Ints.end() && kernels::isFragment(W->second);
}

ProductSize productSize(const KernelRequest &R) {
  if (R.Kernel != "qkv")
    return {R.Ints.at("n"), R.Ints.at("k")};
  return {(R.Ints.at("heads") + R.Ints.at("kv_heads")) * R.Ints.at("head_dim") +
              R.Ints.at("kv_heads") * R.Ints.at("v_head_dim"),
          R.Ints.at("k")};
}

std::vector<KernelForm> formsOf(const KernelRequest &R,
                                std::span<const uint32_t> Buckets,
                                std::string_view Target) {
  if (!isMmaProduct(R)) {
    std::vector<KernelForm> Stages;
    for (unsigned Stage = 0; Stage != stagesOf(R); ++Stage) {
      KernelForm &Form = Stages.emplace_back(KernelForm{R, {}});
      Form.Request.Stage = Stage;
      for (uint32_t B : Buckets)
        Form.Grids.push_back(gridOf(Form.Request, B));
    }
    return Stages;
  }
  FormList List(R, Buckets, Target);
  if (isExperts(R))
    addExpertForms(List, R, Target);
  else if (R.Kernel == "logits" ||
           (R.Kernel == "linear" && R.Ints.at("rows") == kernels::RowsR))
    addRowForms(List, R, Target);
  else
    addTokenForms(List, R, Target);
  return List.take();
}

std::string formFunction(const KernelRequest &R) {
  switch (R.Form->Kind) {
  case FormKind::Prepare:
    return R.Kernel + "Prepare";
  case FormKind::Decode:
    return R.Kernel + "Decode";
  case FormKind::Tile:
    return R.Kernel + "Tile";
  case FormKind::Finish:
    return R.Kernel + (isExperts(R) ? "Finish" : "RawFinish");
  }
  return "";
}

std::string formName(const KernelRequest &R) {
  switch (R.Form->Kind) {
  case FormKind::Prepare:
    return "_prepare";
  case FormKind::Decode:
    return "_rows" + std::to_string(8 * R.Form->TokenTiles);
  case FormKind::Tile:
    return "_rows" + std::to_string(32 * R.Form->TokenGroups);
  case FormKind::Finish:
    return "_finish";
  }
  return "";
}

unsigned formBlock(const KernelRequest &R) {
  switch (R.Form->Kind) {
  case FormKind::Prepare:
    return 256;
  case FormKind::Decode:
    return R.Form->Warps * 32;
  case FormKind::Tile:
    return R.Form->TokenGroups * 128;
  case FormKind::Finish:
    return 128;
  }
  return 0;
}

bool formUses(const KernelRequest &R, std::string_view Buffer) {
  if (isExperts(R))
    return expertFormUses(R, Buffer);
  const ProductForm &F = *R.Form;
  bool Row = Buffer == "x" || Buffer == "gain" || Buffer == "norm_bias";
  bool Raw = isRaw(R);
  switch (F.Kind) {
  case FormKind::Prepare:
    return Row || Buffer == "xq" || Buffer == "logit_rows";
  case FormKind::Finish:
    return !Row && Buffer != "weight";
  case FormKind::Decode:
  case FormKind::Tile:
    if (Row)
      return !F.Prepared;
    if (Buffer == "xq")
      return F.Prepared || Raw;
    return Buffer == "weight" || !Raw;
  }
  return true;
}

LaunchFacts formFacts(const KernelRequest &R, int64_t Tokens) {
  const ProductForm &F = *R.Form;
  DecodeProblem P = problemOf(R, F.Prepared, F.TokenTiles);
  P.Tokens = Tokens;
  if (F.Kind == FormKind::Decode)
    return decodeFacts(P, F);
  if (F.Kind == FormKind::Tile)
    return tileFacts(P, F);
  LaunchFacts L;
  L.RoundTrips = normOf(R) != 0 ? 3 : 2; // counts, sums, rows
  return L;
}

std::string formConstants(const KernelRequest &R) {
  const ProductForm &F = *R.Form;
  int64_t Raw = isRaw(R) ? productSize(R).Rows : 0, K = R.Ints.at("k");
  int64_t Stride = kernels::fragmentXqBytes(K, Raw);
  if (isExperts(R))
    Stride = kernels::fragmentExpertBytes(K, R.Ints.at("n"), R.Ints.at("slots"),
                                          R.Ints.at("combine") != 0);
  std::string Out = enumText("XqStride", Stride) + enumText("IsRaw", Raw != 0);
  if (isExperts(R))
    Out += enumText("Norm", 0);
  if (F.Kind == FormKind::Decode)
    Out += enumText("Tiles", F.Tiles) + enumText("Warps", F.Warps) +
           enumText("TokenTiles", F.TokenTiles) + enumText("Depth", F.Depth) +
           enumText("IsPrepared", F.Prepared) + enumText("Early", F.Early);
  if (F.Kind == FormKind::Finish)
    Out += enumText("Tiles", F.Tiles);
  if (F.Kind == FormKind::Tile)
    Out += enumText("Tiles", F.Tiles) + enumText("TokenGroups", F.TokenGroups) +
           enumText("Stages", F.Stages) + enumText("Early", F.Early);
  return Out;
}

} // namespace llmc::cuda
