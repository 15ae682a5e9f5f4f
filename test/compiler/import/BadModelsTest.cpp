// Every refusal of the importer: status code and words, file by file
// (test/Inputs/bad, written by test/Inputs/import/make.py).
#include "compiler/frontend/onnx/Import.h"
#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

using namespace llmc;

namespace {
struct BadModel {
  const char *File;
  StatusCode Code;
  const char *Words; ///< a part of the first line
};

constexpr StatusCode M = StatusCode::Malformed, U = StatusCode::Unsupported;

const BadModel Models[] = {
    // The file itself.
    {"empty", M, "model 'empty.onnx' is empty: 0 bytes"},
    {"text-file", M, "'text-file.onnx' is truncated or not an ONNX model"},
    {"lfs", M, "Git LFS pointer, not an ONNX model"},
    {"gguf", M, "GGUF file, not an ONNX model"},
    {"truncated", M, "field 7 needs 95 bytes, 81 are left at byte 4"},
    {"no-graph", M, "not an ONNX model: no graph"},
    {"no-opset", M, "imports no opset, expected ai.onnx 7 to 28"},
    {"new-opset", U, "opset 99, supported are 7 to 28 (1 node: 'add')"},
    {"old-opset", U, "opset 6, supported are 7 to 28"},
    {"old-ir", U, "IR version 2, expected at least 3"},
    {"deep", M, "nests messages deeper than 60"},
    // The graph.
    {"cycle", M, "the graph has a cycle: first -> second -> first"},
    {"duplicate-output", M, "'a' is written twice: by node 'one' and by node"},
    {"output-is-initializer", M, "'w' of node 'one' is already a graph input"},
    {"duplicate-initializer", M, "initializer 'w' is there twice"},
    {"undefined-input", M, "node 'lonely' reads 'nowhere'"},
    {"undefined-output", M, "graph output 'y' is written by no node"},
    {"zero-nodes", M, "a graph without nodes"},
    {"no-outputs", M, "the graph has no outputs"},
    {"recursive-function", M, "is recursive"},
    {"exploding-functions", M, "unfold to more than"},
    {"sequence-input", U, "graph input 's' is not a tensor"},
    {"subgraph", U, "Loop: a loop (a subgraph that is run again and again)"},
    {"no-else", M, "node 'if' (If) lacks attribute 'else_branch'"},
    {"branch-outputs", M, "then_branch of node 'if' has 1 outputs, the node 2"},
    {"branch-types", M, "the branches of node 'if' give output 0 different"},
    {"unsupported", U, "7 reasons in 8 nodes (org.example.Magic, ReduceMeen"},
    {"unsupported-tokens", U, "Det: this op of ai.onnx is not supported"},
    // Nodes.
    {"many-attributes", M, "node 'many' has 300 attributes, expected at most"},
    {"attr-type", M, "'axis' of node 'g' (Gather) is a float, expected an int"},
    {"attr-missing", M, "node 'c' (Cast) lacks attribute 'to'"},
    {"attr-twice", M, "'axis' of node 'g' (Gather) is there twice"},
    {"cast-string", U, "is element type string"},
    {"few-inputs", M, "lacks input 1, expected at least 2 inputs"},
    {"many-inputs", M, "has 2 inputs, expected at most 1"},
    {"axis", M, "node 's': 'onnx.softmax' op axis 7 is outside [-2, 2)"},
    {"axes-twice", M, "'axes' both as an attribute and as input 1"},
    // Tensors.
    {"raw-size", M, "'w' has 16 bytes of raw data, float32 [5] needs 20"},
    {"huge-dims", M, "float32 [1048576,1048576] needs 4398046511104 bytes"},
    {"overflowing-dims", M, "the size in bytes of float32 [1099511627776,"},
    {"negative-dim", M, "tensor 'w' has the negative dim -4"},
    {"rank", M, "has 40 dims, expected at most 32"},
    {"two-fields", M, "has data in two fields, expected one"},
    {"typed-short", M, "has 16 bytes of data, float32 [6] needs 24 bytes"},
    {"typed-long", M, "has more than 3 entries of data, int64 [3] needs 3"},
    {"typed-huge", M, "has at most 4 entries, int64 [1099511627776] needs"},
    {"typed-field", M, "int64 data in field 5, expected field 7"},
    {"string-tensor", U, "element type string, which llmc does not have"},
    // External data.
    {"ext-dotdot", M,
     "'../data.bin' of tensor 'w' is not allowed: it lies out"},
    {"ext-absolute", M, "'/data.bin' of tensor 'w' is not allowed"},
    {"ext-missing", M, "'none.bin' of tensor 'w' not found in"},
    {"ext-no-location", M, "'w' is external but names no location"},
    {"ext-length-differs", M, "20 bytes of external data, float32 [4] needs"},
    {"ext-short", M, "'data.bin' has 32 bytes, tensor 'w' needs 36 at offset"},
    {"ext-negative-offset", M, "offset '-4' is not a number in"},
    {"ext-huge-offset", M, "needs 16 at offset 9223372036854775807"},
    {"ext-bad-number", M, "offset '12 ' is not a number in"},
    {"ext-symlink", M, "'link.bin' of tensor 'w' is a symbolic link; --allow-"},
};

class BadModelsTest : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadModelsTest, IsRefusedInWords) {
  mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
  WeightStore Store;
  std::string Path =
      std::string(LLMC_TEST_INPUTS "/bad/") + GetParam().File + ".onnx";
  Result<mlir::OwningOpRef<mlir::ModuleOp>> R =
      importOnnx(Context, Path, {}, Store);
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().code(), GetParam().Code);
  EXPECT_NE(R.status().message().find(GetParam().Words), std::string::npos)
      << R.status().message();
  EXPECT_EQ(R.status().message().find('\n'), std::string::npos);
}

std::string caseName(const ::testing::TestParamInfo<BadModel> &Info) {
  std::string Name = Info.param.File;
  std::replace(Name.begin(), Name.end(), '-', '_');
  return Name;
}

INSTANTIATE_TEST_SUITE_P(All, BadModelsTest, ::testing::ValuesIn(Models),
                         caseName);

TEST(BadModels, TableCoversTheFolder) {
  std::set<std::string> Files, Listed;
  for (const BadModel &Model : Models)
    Listed.insert(Model.File);
  for (const std::filesystem::directory_entry &Entry :
       std::filesystem::directory_iterator(LLMC_TEST_INPUTS "/bad"))
    if (Entry.path().extension() == ".onnx")
      Files.insert(Entry.path().stem().string());
  EXPECT_EQ(Files, Listed);
}

TEST(BadModels, MissingFileIsMalformed) {
  mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
  WeightStore Store;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> R =
      importOnnx(Context, "/nowhere/m.onnx", {}, Store);
  ASSERT_FALSE(R.ok());
  EXPECT_EQ(R.status().code(), StatusCode::Malformed);
  EXPECT_EQ(R.status().message(),
            "cannot open model '/nowhere/m.onnx': No such file or directory");
}

TEST(BadModels, IssuesAreGroupedAndCounted) {
  mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
  WeightStore Store;
  ImportLog Log;
  ImportOptions Options;
  Options.Log = &Log;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> R = importOnnx(
      Context, LLMC_TEST_INPUTS "/bad/unsupported.onnx", Options, Store);
  ASSERT_FALSE(R.ok());
  ASSERT_EQ(Log.Issues.size(), 7u);
  // The last one is about the graph: no token input.
  EXPECT_EQ(R.status().notes().size(), 8u);
  const ImportIssue &Magic = Log.Issues[0];
  EXPECT_EQ(Magic.Op, "org.example.Magic");
  EXPECT_EQ(Magic.Domain, "org.example");
  EXPECT_EQ(Magic.Count, 2u);
  EXPECT_EQ(Magic.Nodes, (std::vector<std::string>{"m1", "m2"}));
  EXPECT_EQ(Log.DeadNodes, 1u);
  EXPECT_EQ(Log.Issues[1].Reason, "this op is not known; similar: ReduceMean");
}
} // namespace
