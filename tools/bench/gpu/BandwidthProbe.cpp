// The probe is a kernel in PTX of its own: each thread adds up 16-byte words a
// grid apart, four in flight, and writes the sum only if it is impossible.
#include "tools/bench/gpu/BandwidthProbe.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace llmc::bench {
namespace {
using namespace llmc::cuda;

constexpr const char *Text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry read(.param .u64 from, .param .u64 count)
.maxntid 512, 1, 1
{
  .reg .pred %p; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [count];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  mul.lo.u32 %r6, %r4, %r2;
  cvt.u64.u32 %rd3, %r5;
  cvt.u64.u32 %rd4, %r6;
  shl.b64 %rd5, %rd4, 4;
  mov.u32 %r7, 0;
again:
  setp.ge.u64 %p, %rd3, %rd2;
  @%p bra out;
  shl.b64 %rd6, %rd3, 4;
  add.u64 %rd7, %rd1, %rd6;
  ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd7];
  add.u64 %rd8, %rd7, %rd5;
  ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%rd8];
  add.u64 %rd9, %rd8, %rd5;
  ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%rd9];
  add.u64 %rd10, %rd9, %rd5;
  ld.global.v4.u32 {%r22, %r23, %r24, %r25}, [%rd10];
  or.b32 %r7, %r7, %r10; or.b32 %r7, %r7, %r11;
  or.b32 %r7, %r7, %r12; or.b32 %r7, %r7, %r13;
  or.b32 %r7, %r7, %r14; or.b32 %r7, %r7, %r15;
  or.b32 %r7, %r7, %r16; or.b32 %r7, %r7, %r17;
  or.b32 %r7, %r7, %r18; or.b32 %r7, %r7, %r19;
  or.b32 %r7, %r7, %r20; or.b32 %r7, %r7, %r21;
  or.b32 %r7, %r7, %r22; or.b32 %r7, %r7, %r23;
  or.b32 %r7, %r7, %r24; or.b32 %r7, %r7, %r25;
  shl.b64 %rd11, %rd4, 2;
  add.u64 %rd3, %rd3, %rd11;
  bra again;
out:
  setp.ne.u32 %p, %r7, 0x7fffffff;
  @%p bra end;
  st.global.u32 [%rd1], %r7;
end:
  ret;
}
.visible .entry empty()
{
  ret;
}
)";

constexpr unsigned Threads = 512, BlocksPerSm = 4, Runs = 5, Empty = 200;

/// What the probe holds, released with it.
class Probe {
public:
  explicit Probe(std::shared_ptr<const Driver> Of) : Api(std::move(Of)) {}
  ~Probe();
  Status open();
  Status load(size_t Bytes);
  Result<double> best(const std::function<int()> &Queue);
  Result<Bandwidth> run(size_t Bytes);

private:
  Status check(int Code, const char *What) const {
    return Api->check(Code, What);
  }
  std::shared_ptr<const Driver> Api;
  Ordinal Device = 0;
  Context Ctx = nullptr;
  Module Code = nullptr;
  Function Read = nullptr, Nothing = nullptr;
  DevicePtr Memory = 0;
  cuda::Stream Work = nullptr;
  Event Begin = nullptr, End = nullptr;
};

Probe::~Probe() {
  for (Event E : {Begin, End})
    if (E)
      Api->EventDestroy(E);
  if (Memory)
    Api->MemFree(Memory);
  if (Code)
    Api->ModuleUnload(Code);
  if (Work)
    Api->StreamDestroy(Work);
  if (Ctx)
    Api->PrimaryCtxRelease(Device);
}

Status Probe::open() {
  if (!Api->hasEvents())
    return doesNotFitError("the cuda driver has no events");
  LLMC_RETURN_IF_ERROR(check(Api->DeviceGet(&Device, 0), "open the GPU"));
  LLMC_RETURN_IF_ERROR(
      check(Api->PrimaryCtxRetain(&Ctx, Device), "open the GPU"));
  LLMC_RETURN_IF_ERROR(check(Api->CtxSetCurrent(Ctx), "use the GPU"));
  LLMC_RETURN_IF_ERROR(check(Api->StreamCreate(&Work, 1), "create a stream"));
  for (Event *E : {&Begin, &End})
    LLMC_RETURN_IF_ERROR(check(Api->EventCreate(E, 0), "create an event"));
  return Status::success();
}

Status Probe::load(size_t Bytes) {
  LLMC_RETURN_IF_ERROR(
      check(Api->ModuleLoadDataEx(&Code, Text, 0, nullptr, nullptr),
            "load the probe"));
  LLMC_RETURN_IF_ERROR(
      check(Api->ModuleGetFunction(&Read, Code, "read"), "find the probe"));
  LLMC_RETURN_IF_ERROR(
      check(Api->ModuleGetFunction(&Nothing, Code, "empty"), "find the probe"));
  return check(Api->MemAlloc(&Memory, Bytes), "allocate the probe's memory");
}

/// Fewest microseconds of what Queue does, the first time not counted.
Result<double> Probe::best(const std::function<int()> &Queue) {
  double Best = 1e30;
  for (unsigned N = 0; N != Runs + 1; ++N) {
    LLMC_RETURN_IF_ERROR(check(Api->EventRecord(Begin, Work), "time the GPU"));
    LLMC_RETURN_IF_ERROR(check(Queue(), "run the probe"));
    LLMC_RETURN_IF_ERROR(check(Api->EventRecord(End, Work), "time the GPU"));
    LLMC_RETURN_IF_ERROR(check(Api->EventSynchronize(End), "run the probe"));
    float Ms = 0;
    LLMC_RETURN_IF_ERROR(
        check(Api->EventElapsedTime(&Ms, Begin, End), "time the GPU"));
    if (N != 0)
      Best = std::min(Best, static_cast<double>(Ms) * 1000);
  }
  return Best;
}

Result<Bandwidth> Probe::run(size_t Bytes) {
  constexpr int MultiprocessorCount = 16; // of CUdevice_attribute
  LLMC_RETURN_IF_ERROR(open());
  char Name[256] = "";
  LLMC_RETURN_IF_ERROR(check(Api->DeviceGetName(Name, sizeof(Name) - 1, Device),
                             "name the GPU"));
  int Sms = 1;
  LLMC_RETURN_IF_ERROR(
      check(Api->DeviceGetAttribute(&Sms, MultiprocessorCount, Device),
            "ask the GPU's size"));
  int Major = 0, Minor = 0;
  for (auto [Out, Attribute] :
       {std::pair{&Major, AttributeMajor}, {&Minor, AttributeMinor}})
    LLMC_RETURN_IF_ERROR(check(Api->DeviceGetAttribute(Out, Attribute, Device),
                               "ask the GPU's architecture"));
  unsigned Blocks = static_cast<unsigned>(Sms) * BlocksPerSm;
  size_t Stride = size_t{Blocks} * Threads * 16 * 4;
  Bytes = std::max<size_t>(Bytes / Stride, 1) * Stride;
  LLMC_RETURN_IF_ERROR(load(Bytes));
  uint64_t Count = Bytes / 16;
  void *Params[] = {&Memory, &Count};
  LLMC_ASSIGN_OR_RETURN(double ReadUs, best([&] {
                          return Api->LaunchKernel(Read, Blocks, 1, 1, Threads,
                                                   1, 1, 0, Work, Params,
                                                   nullptr);
                        }));
  LLMC_ASSIGN_OR_RETURN(double CopyUs, best([&] {
                          return Api->MemcpyDtoDAsync(Memory + Bytes / 2,
                                                      Memory, Bytes / 2, Work);
                        }));
  LLMC_ASSIGN_OR_RETURN(double EmptyUs, best([&] {
                          int Failed = 0;
                          for (unsigned N = 0; N != Empty && !Failed; ++N)
                            Failed =
                                Api->LaunchKernel(Nothing, 1, 1, 1, 32, 1, 1, 0,
                                                  Work, nullptr, nullptr);
                          return Failed;
                        }));
  Bandwidth Out;
  Out.Chip = Name;
  Out.Architecture = Major * 10 + Minor;
  Out.ReadGBs = static_cast<double>(Bytes) / std::max(ReadUs, 1e-3) / 1e3;
  Out.CopyGBs = static_cast<double>(Bytes) / std::max(CopyUs, 1e-3) / 1e3;
  Out.LaunchUs = EmptyUs / Empty;
  return Out;
}
} // namespace

Result<Bandwidth> probeBandwidth(const std::string &Library, size_t Bytes) {
  LLMC_ASSIGN_OR_RETURN(std::shared_ptr<const Driver> Api,
                        Driver::load(Library));
  return Probe(std::move(Api)).run(Bytes);
}

} // namespace llmc::bench
