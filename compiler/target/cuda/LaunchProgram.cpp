// Launch programs to FlatBuffers. Field by field; nothing is decided here.
#include "compiler/target/cuda/LaunchProgram.h"

#include "runtime/artifact/Program_generated.h"
#include "runtime/device/StepAbi.h"

namespace llmc::cuda {
namespace {
using Builder = flatbuffers::FlatBufferBuilder;
using Names = std::vector<std::string>;

flatbuffers::Offset<fb::Kernel> kernelOf(Builder &B, const LaunchKernel &K) {
  return fb::CreateKernel(B, B.CreateString(K.Entry), B.CreateString(K.Kernel),
                          K.Block, 1, 1, K.Registers, K.SharedBytes,
                          K.DynamicBytes, K.SpillBytes, K.LocalBytes, 0, 0,
                          B.CreateVectorOfStrings(K.SourceNodes), K.Early,
                          static_cast<uint32_t>(K.BytesInFlight));
}

flatbuffers::Offset<fb::LaunchArg> argOf(Builder &B, const LaunchArg &A) {
  if (A.Kind == LaunchArgKind::Integer)
    return fb::CreateLaunchArg(B, fb::ArgKind::Immediate, 0, 0, A.Offsets[0],
                               4);
  return fb::CreateLaunchArg(B, static_cast<fb::ArgKind>(A.Kind), A.Index,
                             A.Offsets.empty() ? 0 : B.CreateVector(A.Offsets));
}

/// One dimension of the grids; empty when it is 1 everywhere.
flatbuffers::Offset<flatbuffers::Vector<uint32_t>>
gridOf(Builder &B, const Launch &L, uint32_t Grid::*Dimension, bool Needed) {
  std::vector<uint32_t> Values;
  for (const Grid &G : L.Grids) {
    Values.push_back(G.*Dimension);
    Needed |= G.*Dimension != 1;
  }
  return Needed ? B.CreateVector(Values) : 0;
}

flatbuffers::Offset<fb::Launch> launchOf(Builder &B, const Launch &L) {
  std::vector<flatbuffers::Offset<fb::LaunchArg>> Args;
  for (const LaunchArg &A : L.Args)
    Args.push_back(argOf(B, A));
  auto X = gridOf(B, L, &Grid::X, true), Y = gridOf(B, L, &Grid::Y, false),
       Z = gridOf(B, L, &Grid::Z, false);
  std::vector<fb::LaunchCost> Costs;
  for (const LaunchCost &C : L.Costs)
    Costs.emplace_back(C.Bytes, C.Macs, static_cast<float>(C.Microseconds));
  std::vector<fb::LaunchEffort> Efforts;
  for (const LaunchEffort &E : L.Efforts)
    Efforts.emplace_back(E.Instructions, E.CachedBytes, E.RoundTrips);
  return fb::CreateLaunch(B, L.Kernel, X, Y, Z, B.CreateVector(Args), L.Layer,
                          B.CreateVectorOfStrings(L.SourceNodes),
                          B.CreateVectorOfStructs(Costs),
                          B.CreateVectorOfStructs(Efforts));
}

} // namespace

std::vector<uint8_t> toFlatBuffer(const LaunchProgram &P) {
  Builder B;
  std::vector<flatbuffers::Offset<fb::KvState>> States;
  for (const LaunchState &S : P.States)
    States.push_back(fb::CreateKvState(
        B, B.CreateString(S.Name), S.Layers, S.KvHeads, S.HeadDim, S.VHeadDim,
        static_cast<uint8_t>(S.Type), S.PageOffset));
  std::vector<flatbuffers::Offset<fb::Kernel>> Kernels;
  for (const LaunchKernel &K : P.Kernels)
    Kernels.push_back(kernelOf(B, K));
  std::vector<flatbuffers::Offset<fb::Launch>> Launches;
  for (const Launch &L : P.Launches)
    Launches.push_back(launchOf(B, L));
  auto Target = B.CreateString(P.Target), Layout = B.CreateString("cuda");
  auto Chip = B.CreateString(P.Chip);
  auto Buckets = B.CreateVector(P.Buckets);
  auto ArenaBytes = B.CreateVector(P.ArenaBytes);
  auto StateVector = B.CreateVector(States);
  auto KernelVector = B.CreateVector(Kernels);
  auto LaunchVector = B.CreateVector(Launches);
  fb::ProgramBuilder Out(B);
  Out.add_target(Target);
  Out.add_layout(Layout);
  Out.add_step_abi(LLMC_STEP_ABI);
  Out.add_buckets(Buckets);
  Out.add_arena_bytes(ArenaBytes);
  Out.add_max_tokens(P.Buckets.empty() ? 0 : P.Buckets.back());
  Out.add_max_sequences(P.MaxSequences);
  Out.add_max_context(P.MaxContext);
  Out.add_vocab(P.Vocab);
  Out.add_hidden(P.Hidden);
  Out.add_outputs(P.Outputs);
  Out.add_records(P.Records);
  Out.add_weight_bytes(P.WeightBytes);
  Out.add_page_tokens(P.PageTokens);
  Out.add_page_bytes(P.PageBytes);
  Out.add_pages(P.Pages);
  Out.add_states(StateVector);
  Out.add_kernels(KernelVector);
  Out.add_launches(LaunchVector);
  Out.add_chip(Chip);
  Out.add_cost_context(P.CostContext);
  fb::FinishProgramBuffer(B, Out.Finish());
  return {B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize()};
}

} // namespace llmc::cuda
