// The driver API: capture and graphs. A graph is a list of work in an order
// that respects its edges; launching one queues the whole list.
#include "tools/cudasim/driver/ApiCapture.h"

#include <algorithm>
#include <dlfcn.h>

namespace llmc::cudasim {

static int record(Stream &S, std::shared_ptr<GraphNode> N) {
  if (!S.Capturing->Nodes.empty())
    N->Needs.push_back(S.Capturing->Nodes.back().get());
  S.Capturing->Nodes.push_back(std::move(N));
  return Success;
}

int record(Stream &S, GraphNode::Kind What, std::function<int()> Do) {
  std::shared_ptr<GraphNode> N = std::make_shared<GraphNode>();
  N->What = What;
  N->Do = std::move(Do);
  return record(S, std::move(N));
}

int record(Stream &S, std::shared_ptr<KernelWork> Launch) {
  std::shared_ptr<GraphNode> N = std::make_shared<GraphNode>();
  N->What = GraphNode::Kernel;
  N->Function = Launch->R.Function;
  N->Launch = std::move(Launch);
  return record(S, std::move(N));
}

int breakCapture(Stream &S) {
  S.CaptureBroken = true;
  return CaptureUnsupported;
}

} // namespace llmc::cudasim

using namespace llmc::cudasim;

namespace {
/// CUDA_KERNEL_NODE_PARAMS (v1 is a prefix of v2).
struct KernelNodeParams {
  DeviceFunction *Function;
  unsigned Grid[3], Block[3], Shared;
  void **Params, **Extra;
};

int kernelWork(Context &C, const KernelNodeParams &P, GraphNode &N) {
  LaunchRequest R;
  R.Function = N.Function = functionOf(C, P.Function);
  if (!R.Function)
    return InvalidValue;
  std::copy(P.Grid, P.Grid + 3, R.Grid);
  std::copy(P.Block, P.Block + 3, R.Block);
  R.Shared = P.Shared;
  return prepareLaunch(C, R, P.Params, P.Extra, N.Launch);
}

/// Adds a node whose needs are all in the graph already, so that the list
/// stays in order.
int add(Graph &G, GraphNode **Out, GraphNode *const *Needs, size_t Count,
        std::shared_ptr<GraphNode> N) {
  for (size_t I = 0; I != Count; ++I) {
    bool Known = std::any_of(G.Nodes.begin(), G.Nodes.end(),
                             [&](const std::shared_ptr<GraphNode> &O) {
                               return O.get() == Needs[I];
                             });
    if (!Known)
      return InvalidValue;
    N->Needs.push_back(Needs[I]);
  }
  *Out = N.get();
  G.Nodes.push_back(std::move(N));
  return Success;
}

int instantiate(GraphExec **Out, Graph *G) {
  return inContext([&](Context &C) -> int {
    Graph *Known = lookUp(C.Graphs, G);
    if (!Known || !Out)
      return InvalidValue;
    std::unique_ptr<GraphExec> E = std::make_unique<GraphExec>();
    E->Of = &C;
    for (const std::shared_ptr<GraphNode> &N : Known->Nodes)
      E->Nodes.push_back(std::make_shared<GraphNode>(*N));
    *Out = E.get();
    C.Execs.insert(std::move(E));
    return Success;
  });
}
} // namespace

SIM_EXPORT int cuStreamBeginCapture_v2(Stream *Handle, int) {
  return inContext([&](Context &C) -> int {
    Stream *S = lookUp(C.Streams, Handle);
    if (!S) // the default stream cannot be captured
      return streamOf(C, Handle) ? CaptureUnsupported : InvalidHandle;
    if (S->Capturing)
      return IllegalState;
    S->Capturing = std::make_unique<Graph>();
    S->Capturing->Of = &C;
    S->CaptureBroken = false;
    return Success;
  });
}
SIM_EXPORT int cuStreamEndCapture(Stream *Handle, Graph **Out) {
  return inContext([&](Context &C) -> int {
    Stream *S = lookUp(C.Streams, Handle);
    if (!S || !Out)
      return S ? InvalidValue : InvalidHandle;
    *Out = nullptr;
    if (!S->Capturing)
      return IllegalState;
    std::unique_ptr<Graph> G = std::move(S->Capturing);
    if (S->CaptureBroken)
      return CaptureInvalidated;
    *Out = G.get();
    C.Graphs.insert(std::move(G));
    return Success;
  });
}
SIM_EXPORT int cuStreamIsCapturing(Stream *Handle, int *Status) {
  return inContext([&](Context &C) -> int {
    Stream *S = streamOf(C, Handle);
    if (!S || !Status)
      return S ? InvalidValue : InvalidHandle;
    *Status = !S->Capturing ? 0 : S->CaptureBroken ? 2 : 1;
    return Success;
  });
}
SIM_EXPORT int cuGraphCreate(Graph **Out, unsigned) {
  return inContext([&](Context &C) -> int {
    if (!Out)
      return InvalidValue;
    std::unique_ptr<Graph> G = std::make_unique<Graph>();
    G->Of = &C;
    *Out = G.get();
    C.Graphs.insert(std::move(G));
    return Success;
  });
}
SIM_EXPORT int cuGraphDestroy(Graph *G) {
  return inContext(
      [&](Context &C) { return erase(C.Graphs, G) ? Success : InvalidValue; });
}
SIM_EXPORT int cuGraphAddKernelNode_v2(GraphNode **Out, Graph *G,
                                       GraphNode *const *Needs, size_t Count,
                                       const KernelNodeParams *P) {
  return inContext([&](Context &C) -> int {
    if (!Out || !P || !lookUp(C.Graphs, G) || (Count && !Needs))
      return InvalidValue;
    std::shared_ptr<GraphNode> N = std::make_shared<GraphNode>();
    N->What = GraphNode::Kernel;
    if (int Code = kernelWork(C, *P, *N))
      return Code;
    return add(*G, Out, Needs, Count, std::move(N));
  });
}
SIM_EXPORT int cuGraphAddEmptyNode(GraphNode **Out, Graph *G,
                                   GraphNode *const *Needs, size_t Count) {
  return inContext([&](Context &C) -> int {
    if (!Out || !lookUp(C.Graphs, G) || (Count && !Needs))
      return InvalidValue;
    std::shared_ptr<GraphNode> N = std::make_shared<GraphNode>();
    N->Do = [] { return Success; };
    return add(*G, Out, Needs, Count, std::move(N));
  });
}
SIM_EXPORT int cuGraphGetNodes(Graph *G, GraphNode **Nodes, size_t *Count) {
  return inContext([&](Context &C) -> int {
    if (!lookUp(C.Graphs, G) || !Count)
      return InvalidValue;
    for (size_t I = 0; Nodes && I != *Count; ++I)
      Nodes[I] = I < G->Nodes.size() ? G->Nodes[I].get() : nullptr;
    *Count = Nodes ? std::min(*Count, G->Nodes.size()) : G->Nodes.size();
    return Success;
  });
}
SIM_EXPORT int cuGraphInstantiateWithFlags(GraphExec **Out, Graph *G,
                                           unsigned long long) {
  return instantiate(Out, G);
}
SIM_EXPORT int cuGraphInstantiate_v2(GraphExec **Out, Graph *G, void *, char *,
                                     size_t) {
  return instantiate(Out, G);
}
SIM_EXPORT int cuGraphUpload(GraphExec *E, Stream *) {
  return inContext(
      [&](Context &C) { return lookUp(C.Execs, E) ? Success : InvalidValue; });
}
SIM_EXPORT int cuGraphLaunch(GraphExec *E, Stream *Handle) {
  return inContext([&](Context &C) -> int {
    GraphExec *Known = lookUp(C.Execs, E);
    Stream *S = streamOf(C, Handle);
    if (!Known || !S)
      return Known ? InvalidHandle : InvalidValue;
    if (S->Capturing)
      return breakCapture(*S);
    for (const std::shared_ptr<GraphNode> &N : Known->Nodes)
      if (int Code =
              N->Launch ? C.enqueue(*S, *N->Launch) : C.enqueue(*S, N->Do))
        return Code;
    return Success;
  });
}
SIM_EXPORT int cuGraphExecKernelNodeSetParams_v2(GraphExec *E, GraphNode *Node,
                                                 const KernelNodeParams *P) {
  return inContext([&](Context &C) -> int {
    GraphExec *Known = lookUp(C.Execs, E);
    if (!Known || !P)
      return InvalidValue;
    // Nodes of an executable have the places of those of its graph.
    for (const std::unique_ptr<Graph> &G : C.Graphs)
      for (size_t I = 0; I != G->Nodes.size(); ++I) {
        if (G->Nodes[I].get() != Node || I >= Known->Nodes.size())
          continue;
        GraphNode &N = *Known->Nodes[I];
        if (N.What != GraphNode::Kernel)
          return InvalidValue;
        return kernelWork(C, *P, N);
      }
    return InvalidValue;
  });
}
SIM_EXPORT int cuGraphExecDestroy(GraphExec *E) {
  return inContext(
      [&](Context &C) { return erase(C.Execs, E) ? Success : InvalidValue; });
}

/// Any function of this library by name, with or without its version suffix.
SIM_EXPORT int cuGetProcAddress_v2(const char *Name, void **Out, int,
                                   unsigned long long, int *Found) {
  if (!Name || !Out)
    return InvalidValue;
  Dl_info Info;
  *Out = nullptr;
  if (dladdr(reinterpret_cast<void *>(&cuGetProcAddress_v2), &Info)) {
    if (void *Self = dlopen(Info.dli_fname, RTLD_NOW | RTLD_NOLOAD)) {
      for (const char *Suffix : {"_v4", "_v2", ""})
        if (!*Out)
          *Out = dlsym(Self, (std::string(Name) + Suffix).c_str());
      dlclose(Self);
    }
  }
  if (Found)
    *Found = *Out ? 0 : 1;
  return *Out ? Success : NotFound;
}
