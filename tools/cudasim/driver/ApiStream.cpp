// The driver API: streams and events.
#include "tools/cudasim/driver/ApiCapture.h"

using namespace llmc::cudasim;

namespace {
int createStream(Stream **Out, unsigned Flags) {
  return inContext([&](Context &C) -> int {
    if (!Out || Flags > 1)
      return InvalidValue;
    std::unique_ptr<Stream> S = std::make_unique<Stream>();
    S->Of = &C;
    S->Blocking = Flags == 0;
    *Out = S.get();
    C.Streams.insert(std::move(S));
    return Success;
  });
}
} // namespace

SIM_EXPORT int cuStreamCreate(Stream **Out, unsigned Flags) {
  return createStream(Out, Flags);
}
SIM_EXPORT int cuStreamCreateWithPriority(Stream **Out, unsigned Flags, int) {
  return createStream(Out, Flags);
}
SIM_EXPORT int cuStreamDestroy_v2(Stream *S) {
  return inContext([&](Context &C) -> int {
    if (!lookUp(C.Streams, S))
      return InvalidHandle;
    int Result = C.synchronise(*S);
    erase(C.Streams, S);
    return Result;
  });
}
SIM_EXPORT int cuStreamSynchronize(Stream *Handle) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S)
      return InvalidHandle;
    return S->Capturing ? breakCapture(*S) : C.synchronise(*S);
  });
}
SIM_EXPORT int cuStreamQuery(Stream *Handle) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S)
      return InvalidHandle;
    if (S->Capturing)
      return breakCapture(*S);
    if (!C.Pending.count(S->Last))
      return Success;
    // Time passes for who polls.
    int Result = C.runUntil(S->Queue.front().Number);
    return Result ? Result : C.Pending.count(S->Last) ? NotReady : Success;
  });
}
SIM_EXPORT int cuStreamWaitEvent(Stream *Handle, Event *E, unsigned) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S || !lookUp(C.Events, E))
      return InvalidHandle;
    if (S->Capturing)
      return Success; // captures hold one stream, in order
    if (!E->Recorded)
      return Success;
    return C.enqueue(*S, [] { return Success; }, {E->Recorded});
  });
}
SIM_EXPORT int cuStreamGetFlags(Stream *Handle, unsigned *Flags) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S || !Flags)
      return S ? InvalidValue : InvalidHandle;
    *Flags = S->Blocking ? 0 : 1;
    return Success;
  });
}
SIM_EXPORT int cuLaunchHostFunc(Stream *Handle, void (*F)(void *), void *Data) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S || !F)
      return S ? InvalidValue : InvalidHandle;
    std::function<int()> Do = [F, Data] {
      F(Data);
      return Success;
    };
    return S->Capturing ? record(*S, GraphNode::Host, Do) : C.enqueue(*S, Do);
  });
}

SIM_EXPORT int cuEventCreate(Event **Out, unsigned Flags) {
  return inContext([&](Context &C) -> int {
    if (!Out)
      return InvalidValue;
    std::unique_ptr<Event> E = std::make_unique<Event>();
    E->Of = &C;
    E->Timing = (Flags & 2) == 0;
    *Out = E.get();
    C.Events.insert(std::move(E));
    return Success;
  });
}
SIM_EXPORT int cuEventDestroy_v2(Event *E) {
  return inContext([&](Context &C) -> int {
    Event *Known = lookUp(C.Events, E);
    if (!Known)
      return InvalidHandle;
    int Result = C.runUntil(Known->Recorded);
    erase(C.Events, E);
    return Known->Recorded ? Result : Success;
  });
}
SIM_EXPORT int cuEventRecord(Event *E, Stream *Handle) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S || !lookUp(C.Events, E))
      return InvalidHandle;
    if (S->Capturing)
      return Success;
    int Result = C.enqueue(*S, [&C, E] {
      if (lookUp(C.Events, E))
        E->Time = C.Microseconds;
      return Success;
    });
    E->Recorded = S->Last;
    return Result;
  });
}
SIM_EXPORT int cuEventSynchronize(Event *E) {
  return inContext([&](Context &C) -> int {
    if (!lookUp(C.Events, E))
      return InvalidHandle;
    return E->Recorded ? C.runUntil(E->Recorded) : Success;
  });
}
SIM_EXPORT int cuEventQuery(Event *E) {
  return inContext([&](Context &C) -> int {
    if (!lookUp(C.Events, E))
      return InvalidHandle;
    return C.Pending.count(E->Recorded) ? NotReady : Success;
  });
}
SIM_EXPORT int cuEventElapsedTime(float *Milliseconds, Event *From, Event *To) {
  return inContext([&](Context &C) -> int {
    if (!Milliseconds)
      return InvalidValue;
    if (!lookUp(C.Events, From) || !lookUp(C.Events, To) || !From->Recorded ||
        !To->Recorded || !From->Timing || !To->Timing)
      return InvalidHandle;
    if (C.Pending.count(From->Recorded) || C.Pending.count(To->Recorded))
      return NotReady;
    *Milliseconds = static_cast<float>((To->Time - From->Time) / 1000);
    return Success;
  });
}
SIM_EXPORT int cuEventElapsedTime_v2(float *Milliseconds, Event *From,
                                     Event *To) {
  return cuEventElapsedTime(Milliseconds, From, To);
}
