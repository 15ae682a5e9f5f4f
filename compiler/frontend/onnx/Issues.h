// What a graph needs and llmc does not have: collected over the whole graph,
// grouped by op and reason, so that one run tells everything.
#ifndef LLMC_COMPILER_FRONTEND_ONNX_ISSUES_H
#define LLMC_COMPILER_FRONTEND_ONNX_ISSUES_H

#include "compiler/frontend/onnx/Import.h"
#include "llvm/ADT/StringMap.h"

namespace llmc {

class FlatGraph;
struct GraphNode;

class IssueCollector {
public:
  void add(const GraphNode &Node, const std::string &Reason,
           const std::string &Advice = "");
  bool empty() const { return Issues.empty(); }
  const std::vector<ImportIssue> &issues() const { return Issues; }

  /// Success without issues, else Unsupported with a note for each group.
  Status status() const;

private:
  std::vector<ImportIssue> Issues;
  llvm::StringMap<size_t> ByKey;
};

/// Looks at all live nodes.
void collectIssues(const FlatGraph &Graph,
                   const llvm::StringMap<unsigned> &Uses,
                   IssueCollector &Collector);

} // namespace llmc

#endif // LLMC_COMPILER_FRONTEND_ONNX_ISSUES_H
