// Every check that makes a model unsupported, and how it is told.
#include "compiler/frontend/onnx/Issues.h"

#include "compiler/frontend/onnx/Graph.h"
#include "compiler/frontend/onnx/Signatures.h"
#include "compiler/frontend/onnx/Upgrade.h"
#include "compiler/frontend/onnx/onnx-ml.pb.h"
#include "runtime/base/Quote.h"

using namespace llmc;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;

namespace {
constexpr size_t MaxNamedNodes = 5;
constexpr size_t MaxNamedOps = 8;
constexpr size_t MaxGroups = 1000;
} // namespace

void IssueCollector::add(const GraphNode &Node, const std::string &Reason,
                         const std::string &Advice) {
  std::string Op = opTitle(*Node.Proto);
  llvm::StringMap<size_t>::iterator It =
      ByKey.try_emplace(Op + '\0' + Reason, Issues.size()).first;
  if (It->second == Issues.size()) {
    if (Issues.size() == MaxGroups) {
      ByKey.erase(It);
      return;
    }
    llvm::StringRef Domain = domainOf(Node.Proto->domain());
    Issues.push_back({std::move(Op),
                      Domain.empty() ? "ai.onnx" : printable(Domain),
                      Reason,
                      Advice,
                      0,
                      {}});
  }
  ImportIssue &Issue = Issues[It->second];
  ++Issue.Count;
  if (Issue.Nodes.size() < MaxNamedNodes)
    Issue.Nodes.push_back(printable(Node.Label));
}

/// "org.example.Mix: unknown domain 'org.example' (2 nodes: 'a', 'b')"
static std::string issueLine(const ImportIssue &Issue) {
  std::string Line = Issue.Op + ": " + Issue.Reason + " (" +
                     std::to_string(Issue.Count) +
                     (Issue.Count == 1 ? " node: " : " nodes: ");
  for (size_t I = 0; I < Issue.Nodes.size(); ++I)
    Line += (I ? ", '" : "'") + Issue.Nodes[I] + "'";
  if (Issue.Count > Issue.Nodes.size())
    Line += ", ...";
  Line += ")";
  return Issue.Advice.empty() ? Line : Line + "; " + Issue.Advice;
}

Status IssueCollector::status() const {
  if (Issues.empty())
    return Status::success();
  if (Issues.size() == 1)
    return unsupportedError("model is not supported: " +
                            issueLine(Issues.front()));
  unsigned Nodes = 0;
  std::string Ops;
  for (size_t I = 0; I < Issues.size(); ++I) {
    Nodes += Issues[I].Count;
    if (I < MaxNamedOps)
      Ops += (I ? ", " : "") + Issues[I].Op;
  }
  Status S = unsupportedError(
      "model is not supported: " + std::to_string(Issues.size()) +
      " reasons in " + std::to_string(Nodes) + " nodes (" + Ops +
      (Issues.size() > MaxNamedOps ? ", ...)" : ")"));
  for (const ImportIssue &Issue : Issues)
    S.addNote(issueLine(Issue));
  return S;
}

namespace {
const AttributeProto *findAttr(const NodeProto &Node, llvm::StringRef Name) {
  for (const AttributeProto &A : Node.attribute())
    if (A.name() == Name)
      return &A;
  return nullptr;
}

/// Nodes of other domains than ai.onnx.
void otherDomain(const GraphNode &Node, IssueCollector &Out) {
  const NodeProto &P = *Node.Proto;
  if (P.op_type() == "EPContext") {
    const AttributeProto *Source = findAttr(P, "source");
    return Out.add(Node,
                   "holds a program compiled for " +
                       (Source ? quoted(Source->s()) : "one vendor") +
                       " instead of a graph",
                   "give the ONNX file that it was made from");
  }
  if (P.domain() == "com.microsoft" || P.domain() == "com.microsoft.nchwc")
    return Out.add(Node, "this op of ONNX Runtime is not supported yet");
  if (P.domain() == "org.pytorch.aten" || P.domain() == "aten")
    return Out.add(Node, "an operator of PyTorch that its exporter left over",
                   "export again without ATen fallback");
  Out.add(Node, "unknown domain " + quoted(P.domain()),
          "a local function of this name in the file would be inlined");
}

void knownOp(const GraphNode &Node, const OpSpec &Spec,
             const llvm::StringMap<unsigned> &Uses, IssueCollector &Out) {
  const NodeProto &P = *Node.Proto;
  for (const AttributeProto &A : P.attribute())
    if (!Spec.attr(A.name()) && !isLegacyAttribute(Spec.Name, A.name()))
      Out.add(Node, "attribute " + quoted(A.name()) + " is not known");
  for (int I = Spec.Results; Spec.Results >= 0 && I < P.output_size(); ++I)
    if (Uses.contains(P.output(I)))
      Out.add(Node, "output " + std::to_string(I) +
                        " is used, supported are the first " +
                        std::to_string(Spec.Results));
}

/// Constant is no op of the dialect: its value becomes a constant or a weight.
void constantNode(const GraphNode &Node, IssueCollector &Out) {
  for (const AttributeProto &A : Node.Proto->attribute())
    if (A.name() == "value_string" || A.name() == "value_strings" ||
        A.name() == "sparse_value")
      Out.add(Node, "a constant given by " + A.name() + " is not supported");
}

/// An op of ai.onnx without a row in the tables. Looking for a similar name
/// takes long, so it is done once per name.
void unknownOp(const GraphNode &Node, llvm::StringMap<std::string> &Similar,
               IssueCollector &Out) {
  const std::string &Name = Node.Proto->op_type();
  auto [It, New] = Similar.try_emplace(Name);
  if (New)
    It->second = similarOp(Name).str();
  Out.add(Node, It->second.empty()
                    ? "this op of ai.onnx is not supported yet"
                    : "this op is not known; similar: " + It->second);
}

bool hasSubgraph(const NodeProto &Node) {
  for (const AttributeProto &A : Node.attribute())
    if (A.has_g() || A.graphs_size() > 0)
      return true;
  return false;
}
} // namespace

void llmc::collectIssues(const FlatGraph &Graph,
                         const llvm::StringMap<unsigned> &Uses,
                         IssueCollector &Out) {
  llvm::StringMap<std::string> Similar;
  for (const GraphNode &Node : Graph.Nodes) {
    if (!Node.Live)
      continue;
    const NodeProto &P = *Node.Proto;
    llvm::StringRef Domain = domainOf(P.domain());
    const OpSpec *Spec = findOp(Domain, P.op_type());
    if (!Domain.empty() && !Spec) {
      otherDomain(Node, Out);
      continue;
    }
    if (P.op_type() == "If" && Domain.empty())
      continue; // its branches are in the list
    if (hasSubgraph(P))
      Out.add(Node, "a loop (a subgraph that is run again and again) is not "
                    "supported");
    else if (Node.Opset < OldestOpset || Node.Opset > NewestOpset)
      Out.add(Node, "opset " + std::to_string(Node.Opset) + ", supported are " +
                        std::to_string(OldestOpset) + " to " +
                        std::to_string(NewestOpset));
    else if (P.op_type() == "Constant")
      constantNode(Node, Out);
    else if (Spec)
      knownOp(Node, *Spec, Uses, Out);
    else
      unknownOp(Node, Similar, Out);
  }
}
