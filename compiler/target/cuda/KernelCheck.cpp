// Limits of the kernel templates in compiler/kernels/cuda.
#include "compiler/target/cuda/KernelCheck.h"

#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/FragmentFormat.h"
#include "compiler/kernels/ProductShape.h"
#include "compiler/target/cuda/KernelText.h"
#include "compiler/target/cuda/ProductForms.h"

#include <cmath>
#include <limits>

namespace llmc::cuda {

static Status checkComplete(const KernelRequest &R,
                            const kernels::KernelInfo &Info) {
  if (R.Present.size() != Info.Buffers.size())
    return internalError("kernel " + R.Kernel + " has " +
                         std::to_string(Info.Buffers.size()) +
                         " buffers, found " + std::to_string(R.Present.size()));
  for (std::string_view Name : Info.Ints)
    if (!R.Ints.count(std::string(Name)))
      return internalError("kernel " + R.Kernel + " lacks the constant " +
                           std::string(Name));
  for (std::string_view Name : Info.Floats)
    if (!R.Floats.count(std::string(Name)))
      return internalError("kernel " + R.Kernel + " lacks the constant " +
                           std::string(Name));
  for (const auto &[Name, Value] : R.Floats)
    if (!std::isfinite(Value))
      return unsupportedError("cuda kernel " + R.Kernel + ": " + Name +
                              " is not finite");
  return Status::success();
}

/// Buffers that every kernel with them needs.
static Status checkBuffers(const KernelRequest &R,
                           const kernels::KernelInfo &Info) {
  bool Table = false, Freq = false;
  for (size_t I = 0; I != Info.Buffers.size(); ++I) {
    std::string_view B = Info.Buffers[I];
    Table |= (B == "cos_table" || B == "sin_table") && R.Present[I];
    Freq |= B == "freq" && R.Present[I];
    bool Optional = B == "gain" || B == "norm_bias" || B == "bias" ||
                    B == "residual" || B == "xq" || B == "partial" ||
                    B == "freq" || B == "cos_table" || B == "sin_table" ||
                    B == "slopes" || B == "sinks" || B == "decay" ||
                    B == "beta" || B.starts_with("in") ||
                    (B == "rope" && R.Kernel.starts_with("qkv") &&
                     R.Ints.at("rotary_half") == 0);
    if (!Optional && !R.Present[I])
      return internalError("kernel " + R.Kernel + " lacks the buffer " +
                           std::string(B));
  }
  if (R.Kernel == "experts" && R.Ints.at("combine") && !R.Present.back())
    return internalError("kernel experts with combine lacks the buffer xq");
  if (isMmaProduct(R) && R.Kernel != "logits" && !R.Present.back())
    return internalError("kernel " + R.Kernel + " lacks the buffer xq");
  if (R.Kernel == "rope_table" && Table == Freq)
    return internalError("kernel rope_table needs either freq or tables");
  return Status::success();
}

Status checkRequest(const KernelRequest &R) {
  const kernels::KernelInfo *Info = kernels::findKernel(R.Kernel);
  if (!Info)
    return internalError("unknown kernel " + R.Kernel);
  LLMC_RETURN_IF_ERROR(checkComplete(R, *Info));
  LLMC_RETURN_IF_ERROR(checkBuffers(R, *Info));
  auto Limit = [&](const char *Name, int64_t Low, int64_t High) {
    auto It = R.Ints.find(Name);
    if (It == R.Ints.end() || (It->second >= Low && It->second <= High))
      return Status::success();
    return unsupportedError("cuda kernel " + R.Kernel + " takes " + Name +
                            " from " + std::to_string(Low) + " to " +
                            std::to_string(High) + ", found " +
                            std::to_string(It->second));
  };
  constexpr int64_t Max = int64_t(1) << 24;
  for (const char *Name : {"k", "n", "vocab", "hidden", "half"})
    LLMC_RETURN_IF_ERROR(Limit(Name, 1, Max));
  for (const char *Name : {"heads", "kv_heads", "experts", "slots", "taps"})
    LLMC_RETURN_IF_ERROR(Limit(Name, 1, 65535));
  for (const char *Name : {"head_dim", "v_head_dim"})
    LLMC_RETURN_IF_ERROR(Limit(Name, 1, kernels::MaxHeadDim));
  LLMC_RETURN_IF_ERROR(Limit("rotary_half", 0, 256));
  for (const char *Name : {"window", "chunk"})
    LLMC_RETURN_IF_ERROR(Limit(Name, 0, std::numeric_limits<int32_t>::max()));
  auto W = R.Ints.find("wtype");
  if (W == R.Ints.end() ||
      (!kernels::isQuantized(W->second) && !kernels::isFragment(W->second)))
    LLMC_RETURN_IF_ERROR(Limit("wtype", kernels::WF32, kernels::WBF16));
  LLMC_RETURN_IF_ERROR(Limit("kvtype", kernels::KvF32, kernels::KvI8));
  LLMC_RETURN_IF_ERROR(Limit("norm", kernels::NormNone, kernels::NormLayer));
  for (const char *Name : {"activation", "glu"})
    LLMC_RETURN_IF_ERROR(Limit(Name, kernels::ActNone, kernels::ActRelu2));
  // Activations stay f32 here; int8 planes are a policy of the CPU.
  LLMC_RETURN_IF_ERROR(Limit("xpolicy", kernels::XF32, kernels::XF32));
  auto Int = [&](const char *Name) {
    auto It = R.Ints.find(Name);
    return It == R.Ints.end() ? 0 : It->second;
  };
  if (Int("kv_heads") != 0 && Int("heads") % Int("kv_heads") != 0)
    return unsupportedError("cuda kernel " + R.Kernel + " takes heads in " +
                            "multiples of kv_heads " +
                            std::to_string(Int("kv_heads")) + ", found " +
                            std::to_string(Int("heads")));
  if (Int("rotary_half") * 2 > Int("head_dim"))
    return internalError("kernel " + R.Kernel + ": rotary_half " +
                         std::to_string(Int("rotary_half")) +
                         " is more than half of head_dim " +
                         std::to_string(Int("head_dim")));
  if (Int("experts") * Int("n") > std::numeric_limits<int32_t>::max())
    return unsupportedError("cuda kernel experts takes less than 2^31 rows of "
                            "weights, found " +
                            std::to_string(Int("experts") * Int("n")));
  if (R.Kernel == "experts" && isMmaProduct(R) &&
      !kernels::hasExpertTiles(Int("n")))
    return internalError("kernel experts with mma weights needs rows in "
                         "multiples of 16, found " +
                         std::to_string(Int("n")));
  if (R.Kernel == "linear" && Int("glu") != 0 && Int("n") % 32 != 0)
    return internalError("kernel linear with glu needs rows in multiples of "
                         "32, found " +
                         std::to_string(Int("n")));
  if (Int("glu") != 0 && Int("activation") != 0)
    return internalError("kernel linear has both glu and activation");
  return Status::success();
}

} // namespace llmc::cuda
