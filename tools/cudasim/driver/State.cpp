// Contexts, streams and their order. Work waits in its stream until somebody
// synchronises, so that a program that forgets to is seen to. By default it
// then runs in the order of the calls; with a seed any stream whose next work
// has what it needs may be first.
#include "tools/cudasim/driver/State.h"

#include <algorithm>
#include <cstdio>

namespace llmc::cudasim {

State &state() {
  static State S;
  return S;
}

std::vector<Context *> &contextStack() {
  thread_local std::vector<Context *> Stack;
  return Stack;
}

bool isContext(const Context *C) {
  return lookUp(state().Contexts, C) != nullptr;
}

void report(const std::string &Line) {
  std::fprintf(stderr, "cudasim: %s\n", Line.c_str());
}

Stream *streamOf(Context &C, const void *Handle) {
  if (reinterpret_cast<uintptr_t>(Handle) <= 2)
    return &C.Default;
  return lookUp(C.Streams, Handle);
}

DeviceFunction *functionOf(Context &C, const void *Handle) {
  for (const std::unique_ptr<Module> &M : C.Modules)
    for (const std::unique_ptr<DeviceFunction> &F : M->Functions)
      if (F.get() == Handle)
        return F.get();
  return nullptr;
}

std::vector<Stream *> Context::all() {
  std::vector<Stream *> All{&Default};
  for (const std::unique_ptr<Stream> &S : Streams)
    All.push_back(S.get());
  return All;
}

int Context::enqueue(Stream &S, std::function<int()> Do,
                     const std::vector<uint64_t> &Needs) {
  Work W;
  W.Needs = Needs;
  W.Do = std::move(Do);
  return enqueue(S, std::move(W));
}

int Context::enqueue(Stream &S, const KernelWork &Launch) {
  Work W;
  W.Kernel = std::make_shared<KernelWork>(Launch);
  return enqueue(S, std::move(W));
}

int Context::enqueue(Stream &S, Work W) {
  W.Number = ++state().Numbers;
  // Stream 0 and the blocking streams wait for each other.
  if (&S == &Default) {
    for (const std::unique_ptr<Stream> &O : Streams)
      if (O->Blocking && O->Last)
        W.Needs.push_back(O->Last);
  } else if (S.Blocking && Default.Last) {
    W.Needs.push_back(Default.Last);
  }
  Pending.insert(W.Number);
  S.Last = W.Number;
  S.Queue.push_back(std::move(W));
  return settings().EagerStreams ? runUntil(S.Last) : Success;
}

/// The stream whose first work is next.
Stream *Context::choose() {
  std::vector<Stream *> Ready;
  for (Stream *S : all()) {
    if (S->Queue.empty())
      continue;
    const Work &W = S->Queue.front();
    if (std::none_of(W.Needs.begin(), W.Needs.end(),
                     [&](uint64_t N) { return Pending.count(N) != 0; }))
      Ready.push_back(S);
  }
  if (Ready.empty())
    return nullptr;
  if (settings().RandomStreams) {
    static uint64_t Random = settings().Seed * 2 + 1;
    Random = Random * 6364136223846793005u + 1442695040888963407u;
    return Ready[(Random >> 33) % Ready.size()];
  }
  return *std::min_element(
      Ready.begin(), Ready.end(), [](const Stream *A, const Stream *B) {
        return A->Queue.front().Number < B->Queue.front().Number;
      });
}

int Context::runUntil(uint64_t Number) {
  while (Number ? Pending.count(Number) != 0 : !Pending.empty()) {
    Stream *S = choose();
    if (!S)
      return Unknown; // not reached: what work needs was queued before it
    Work W = std::move(S->Queue.front());
    S->Queue.pop_front();
    KernelWork *Next =
        S->Queue.empty() ? nullptr : S->Queue.front().Kernel.get();
    if (Next && !Next->R.Early)
      Next = nullptr;
    int Result = W.Kernel ? W.Kernel->run(Next) : W.Do();
    Pending.erase(W.Number);
    if (Result != Success) {
      Sticky = Result;
      for (Stream *O : all())
        O->Queue.clear();
      Pending.clear();
      return Result;
    }
  }
  return Success;
}

} // namespace llmc::cudasim
