// Objects behind the driver's handles. A handle is the object's address and is
// looked up before it is used, so a wrong one is an error code. One lock guards
// everything: calls of the driver do not overlap.
#ifndef LLMC_TOOLS_CUDASIM_DRIVER_STATE_H
#define LLMC_TOOLS_CUDASIM_DRIVER_STATE_H

#include "tools/cudasim/exec/DeviceMemory.h"
#include "tools/cudasim/exec/Machine.h"

#include <map>
#include <mutex>
#include <set>

namespace llmc::cudasim {

/// Codes of CUresult that the simulator gives.
enum Code : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinary = 209,
  InvalidPtx = 218,
  UnsupportedPtx = 222,
  InvalidSource = 300,
  IllegalState = 401,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  OutOfResources = 701,
  PrimaryContextActive = 708,
  ContextDestroyed = 709,
  CooperativeTooLarge = 720,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
  CaptureUnmatched = 903,
  CaptureImplicit = 906,
  Unknown = 999
};

struct Context;
struct Module;
struct Stream;

struct DeviceFunction {
  Module *Of = nullptr;
  std::shared_ptr<Program> Prog;
  unsigned MostDynamicShared = 0; ///< set by cuFuncSetAttribute
  int Carveout = -1;
};

struct Module {
  Context *Of = nullptr;
  unsigned Target = 0;
  std::vector<std::unique_ptr<DeviceFunction>> Functions;
  std::map<std::string, Symbol> Symbols;
};

/// What a launch is made of, checked; runs once.
struct KernelWork;

/// Something to do in a stream's turn: a launch, or what Do does. Do returns a
/// code.
struct Work {
  uint64_t Number = 0; ///< in the order of calls, over all streams
  std::vector<uint64_t> Needs;
  std::function<int()> Do;
  std::shared_ptr<KernelWork> Kernel;
};

struct Event {
  Context *Of = nullptr;
  uint64_t Recorded = 0; ///< Number of its work, 0: never recorded
  double Time = 0;       ///< modelled microseconds of the context
  bool Timing = true;
};

/// A launch or copy of a graph. Nodes are in an order that respects all edges.
struct GraphNode {
  enum Kind : uint8_t { Kernel, Copy, Set, Host, Empty };
  Kind What = Empty;
  std::function<int()> Do;
  std::shared_ptr<KernelWork> Launch; ///< of a kernel; copied for each run
  std::vector<GraphNode *> Needs;
  // Of a kernel: what ExecKernelNodeSetParams may change.
  DeviceFunction *Function = nullptr;
};
struct Graph {
  Context *Of = nullptr;
  std::vector<std::shared_ptr<GraphNode>> Nodes;
};
struct GraphExec {
  Context *Of = nullptr;
  std::vector<std::shared_ptr<GraphNode>> Nodes;
};

struct Stream {
  Context *Of = nullptr;
  bool Blocking = true; ///< waits for and is waited for by stream 0
  std::deque<Work> Queue;
  uint64_t Last = 0; ///< Number of the latest work
  std::unique_ptr<Graph> Capturing;
  bool CaptureBroken = false;
};

struct Context {
  explicit Context(uint64_t Bytes) : Memory(Bytes) { Default.Of = this; }
  DeviceMemory Memory;
  std::set<uint64_t> Allocated; ///< by the user, not module variables
  std::map<void *, size_t> Pinned;
  std::set<std::unique_ptr<Module>> Modules;
  std::set<std::unique_ptr<Stream>> Streams;
  std::set<std::unique_ptr<Event>> Events;
  std::set<std::unique_ptr<Graph>> Graphs;
  std::set<std::unique_ptr<GraphExec>> Execs;
  Stream Default;
  std::set<uint64_t> Pending; ///< numbers of work not done
  int Sticky = 0;             ///< every later call returns it
  double Microseconds = 0;    ///< modelled time of all work done
  bool Primary = false;
  unsigned Flags = 0;
  std::shared_ptr<Watcher> Checks; ///< the sanitizer, if it is on

  /// Queues work behind what the stream has; runs it when eager.
  int enqueue(Stream &S, std::function<int()> Do,
              const std::vector<uint64_t> &Needs = {});
  int enqueue(Stream &S, const KernelWork &Launch);
  /// Runs what is needed until work Number is done; 0: all.
  int runUntil(uint64_t Number);
  int synchronise(Stream &S) { return runUntil(S.Last); }

private:
  int enqueue(Stream &S, Work W);
  Stream *choose();
  std::vector<Stream *> all();
};

struct State {
  std::recursive_mutex Guard;
  bool Initialized = false;
  std::set<std::unique_ptr<Context>> Contexts;
  Context *Primary = nullptr;
  unsigned PrimaryUsers = 0;
  uint64_t Numbers = 0; ///< of work
};
State &state();

/// The calling thread's stack of contexts; the last is current.
std::vector<Context *> &contextStack();
/// Whether it is alive.
bool isContext(const Context *C);

template <class T>
T *lookUp(const std::set<std::unique_ptr<T>> &Set, const void *Handle) {
  for (const std::unique_ptr<T> &P : Set)
    if (P.get() == Handle)
      return P.get();
  return nullptr;
}
template <class T>
bool erase(std::set<std::unique_ptr<T>> &Set, const void *Handle) {
  for (auto It = Set.begin(); It != Set.end(); ++It)
    if (It->get() == Handle) {
      Set.erase(It);
      return true;
    }
  return false;
}

/// 0, 1 and 2 are the default streams; null for a wrong handle.
Stream *streamOf(Context &C, const void *Handle);
DeviceFunction *functionOf(Context &C, const void *Handle);

/// Loads PTX; throws PtxError. Variables are allocated in C.
std::unique_ptr<Module> loadModule(Context &C, std::string_view Text);
void unloadModule(Context &C, Module &M);

/// Checks a launch and makes the work of it: a code, Out on success.
struct LaunchRequest {
  DeviceFunction *Function = nullptr;
  unsigned Grid[3] = {1, 1, 1}, Block[3] = {1, 1, 1}, Shared = 0;
  bool Cooperative = false;
  bool Early = false; ///< programmatic stream serialization
};
struct KernelWork {
  Context *Of = nullptr;
  LaunchRequest R;
  std::shared_ptr<Program> Prog;
  std::shared_ptr<std::vector<uint8_t>> Params;
  uint64_t Resident = 1;
  std::shared_ptr<Launch> Begun; ///< made by launch()

  Launch &launch();
  /// Next is the launch behind it in its stream, if that may begin early.
  int run(KernelWork *Next);
};
int prepareLaunch(Context &C, const LaunchRequest &R, void **Params,
                  void **Extra, std::shared_ptr<KernelWork> &Out);
/// Blocks of a function that one multiprocessor holds: the arithmetic of
/// ptx-simulator 8.3 with the simulator's estimate of registers.
unsigned residentBlocks(const Program &P, unsigned Threads, unsigned Dynamic);
/// Registers of a thread, estimated from live ranges.
unsigned estimatedRegisters(const Program &P);
/// One line on standard error.
void report(const std::string &Line);

/// Runs F with the lock held and turns what escapes into a code.
template <class Function> int guarded(Function F) {
  std::lock_guard<std::recursive_mutex> Lock(state().Guard);
  try {
    return F();
  } catch (const std::bad_alloc &) {
    return OutOfMemory;
  } catch (...) {
    return Unknown;
  }
}
/// The same with the current context, whose sticky error comes first.
template <class Function> int inContext(Function F) {
  return guarded([&]() -> int {
    if (!state().Initialized)
      return NotInitialized;
    if (contextStack().empty() || !contextStack().back())
      return InvalidContext;
    Context *C = contextStack().back();
    if (!isContext(C))
      return ContextDestroyed;
    if (C->Sticky)
      return C->Sticky;
    return F(*C);
  });
}

} // namespace llmc::cudasim

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

#endif // LLMC_TOOLS_CUDASIM_DRIVER_STATE_H
