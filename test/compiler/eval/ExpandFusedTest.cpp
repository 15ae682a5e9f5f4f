// llmc-expand-fused: what an op computes and what its expansion computes are
// the same, on random inputs.
#include "compiler/eval/Evaluator.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llmc;
using namespace llmc::eval;

namespace {

/// Numbers in [-1, 1] for every argument, the same ones for both modules; types
/// are those before the pass, which makes caches that grow of arguments.
std::vector<Tensor> outputsOf(mlir::ModuleOp M, mlir::TypeRange Types) {
  auto F = *M.getOps<mlir::func::FuncOp>().begin();
  Evaluator Eval(Budget(1 << 20, 1 << 26));
  uint64_t State = 1;
  for (mlir::BlockArgument Arg : F.getArguments()) {
    auto Type = mlir::cast<mlir::RankedTensorType>(Types[Arg.getArgNumber()]);
    std::vector<double> Values(size_t(Type.getNumElements()));
    for (double &V : Values) {
      State = State * 6364136223846793005ull + 1442695040888963407ull;
      V = double(State >> 33) / double(1u << 30) - 1;
    }
    Dims Shape(Type.getShape().begin(), Type.getShape().end());
    Eval.bind(Arg, Tensor::ofFloats(DType::F32, Shape, Values));
  }
  std::vector<Tensor> Out;
  for (mlir::Value V : F.getBody().front().getTerminator()->getOperands()) {
    Result<const Tensor *> T = Eval.evaluate(V);
    EXPECT_TRUE(T.ok()) << T.status().message();
    if (T.ok())
      Out.push_back(**T);
  }
  return Out;
}

/// Body of a function whose results are %a, %b, … of type tensor<*xf32>.
void expectSame(const std::string &Args, const std::string &Body,
                const std::string &Results) {
  std::string Outs;
  for (char C : Results)
    if (C == '%')
      Outs += (Outs.empty() ? "" : ", ") + std::string("tensor<*xf32>");
  std::string Text = "func.func @main(" + Args + ") -> (" + Outs +
                     ") {\n  %n = onnx.none\n" + Body + "\n  return " +
                     Results + " : " + Outs + "\n}\n";
  mlir::MLIRContext Context;
  Context.loadDialect<mlir::func::FuncDialect, onnx::OnnxDialect>();
  auto Fused = mlir::parseSourceString<mlir::ModuleOp>(Text, &Context);
  ASSERT_TRUE(Fused) << Text;
  mlir::OwningOpRef<mlir::ModuleOp> Plain = Fused->clone();
  mlir::PassManager PM(&Context);
  PM.addPass(createExpandFused());
  ASSERT_TRUE(mlir::succeeded(PM.run(*Plain))) << Text;
  Plain->walk([&](mlir::Operation *Op) {
    llvm::StringRef Name = Op->getName().getStringRef();
    EXPECT_FALSE(Name.contains("attention") || Name.contains("rotary"))
        << Name.str() << " is left of\n"
        << Text;
  });
  auto Types =
      (*Fused->getOps<mlir::func::FuncOp>().begin()).getArgumentTypes();
  std::vector<Tensor> Want = outputsOf(*Fused, Types),
                      Have = outputsOf(*Plain, Types);
  ASSERT_EQ(Want.size(), Have.size());
  for (size_t I = 0; I < Want.size(); ++I) {
    ASSERT_EQ(describe(Want[I]), describe(Have[I])) << Text;
    for (int64_t E = 0; E < Want[I].count(); ++E)
      ASSERT_NEAR(floatAt(Have[I], E), floatAt(Want[I], E), 1e-5)
          << "result " << I << " element " << E << "\n"
          << Text;
  }
}

const std::string Heads4 = "%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x3x8xf32>, "
                           "%v: tensor<1x2x3x8xf32>, %pk: tensor<1x2x2x8xf32>, "
                           "%pv: tensor<1x2x2x8xf32>";

std::string attention(const std::string &Mask, const std::string &MaskType,
                      const std::string &Attrs) {
  return "  %a, %b, %c, %d = onnx.attention %q, %k, %v, " + Mask +
         ", %pk, %pv, %n {" + Attrs +
         "} : (tensor<1x4x3x8xf32>, tensor<1x2x3x8xf32>, "
         "tensor<1x2x3x8xf32>, " +
         MaskType +
         ", tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, none) -> "
         "(tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)";
}

TEST(ExpandFused, Attention) {
  for (const char *Attrs :
       {"is_causal = 1 : i64", "is_causal = 1 : i64, softcap = 1.5 : f32",
        "is_causal = 1 : i64, scale = 0.7 : f32, left_window_size = 1 : i64",
        "left_window_size = 1 : i64, right_window_size = 1 : i64", ""})
    expectSame(Heads4, attention("%n", "none", Attrs), "%a, %b, %c");
  expectSame(Heads4 + ", %m: tensor<3x5xf32>",
             attention("%m", "tensor<3x5xf32>", "is_causal = 1 : i64"),
             "%a, %b, %c");
}

TEST(ExpandFused, AttentionOfRows) {
  expectSame("%q: tensor<2x3x32xf32>, %k: tensor<2x3x16xf32>, "
             "%v: tensor<2x3x8xf32>",
             "  %a, %b, %c, %d = onnx.attention %q, %k, %v, %n, %n, %n, %n "
             "{q_num_heads = 4 : i64, kv_num_heads = 2 : i64, is_causal = 1 : "
             "i64} : (tensor<2x3x32xf32>, tensor<2x3x16xf32>, "
             "tensor<2x3x8xf32>, none, none, none, none) -> (tensor<*xf32>, "
             "tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)",
             "%a");
}

TEST(ExpandFused, RotaryEmbedding) {
  std::string Args = "%x: tensor<1x2x3x8xf32>, %c: tensor<9x3xf32>, "
                     "%s: tensor<9x3xf32>, %c4: tensor<9x4xf32>, "
                     "%s4: tensor<9x4xf32>";
  std::string Ids = "  %p = onnx.constant dense<[[4, 0, 7]]> : "
                    "tensor<1x3xi64>\n";
  for (const char *Pairs : {"0", "1"})
    for (const char *Half : {"", "4"}) {
      std::string Wide = *Half ? "4" : "3";
      std::string Dim = *Half ? "0" : "6";
      std::string Type = "tensor<9x" + Wide + "xf32>";
      std::string Tables = std::string("%c") + Half + ", %s" + Half;
      std::string Attrs = std::string("{interleaved = ") + Pairs +
                          " : i64, rotary_embedding_dim = " + Dim + " : i64";
      expectSame(Args,
                 Ids + "  %a = onnx.rotary_embedding %x, " + Tables + ", %p " +
                     Attrs + "} : (tensor<1x2x3x8xf32>, " + Type + ", " + Type +
                     ", tensor<1x3xi64>) -> tensor<*xf32>",
                 "%a");
      expectSame(Args,
                 Ids + "  %a = onnx.ms_rotary_embedding %x, %p, " + Tables +
                     " " + Attrs +
                     ", num_heads = 2 : i64} : (tensor<1x2x3x8xf32>, "
                     "tensor<1x3xi64>, " +
                     Type + ", " + Type + ") -> tensor<*xf32>",
                 "%a");
    }
}

/// GroupQueryAttention of 3 new tokens after 2, 4 heads over 2 of 16.
std::string grouped(bool Packed, bool Rotary, const std::string &Sinks,
                    const std::string &Attrs) {
  std::string Table = Rotary ? "%c, %s" : "%n, %n";
  std::string TableType =
      Rotary ? "tensor<9x8xf32>, tensor<9x8xf32>" : "none, none";
  return std::string("  %l = onnx.constant dense<4> : tensor<1xi32>\n"
                     "  %t = onnx.constant dense<5> : tensor<1xi32>\n"
                     "  %a, %b, %d, %e = onnx.ms_group_query_attention ") +
         (Packed ? "%x, %n, %n" : "%q, %k, %v") + ", %pk, %pv, %l, %t, " +
         Table + ", %n, %n, " + Sinks +
         ", %n, %n, %n, %n, %n {num_heads = 4 : i64, kv_num_heads = 2 : i64" +
         Attrs + (Rotary ? ", do_rotary = 1 : i64" : "") + "} : (" +
         (Packed ? "tensor<1x3x128xf32>, none, none"
                 : "tensor<1x3x64xf32>, tensor<1x3x32xf32>, "
                   "tensor<1x3x32xf32>") +
         ", tensor<1x2x2x16xf32>, tensor<1x2x2x16xf32>, tensor<1xi32>, "
         "tensor<1xi32>, " +
         TableType + ", none, none, " +
         (Sinks == "%n" ? "none" : "tensor<4xf32>") +
         ", none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, "
         "tensor<*xf32>, tensor<*xf32>)";
}

TEST(ExpandFused, GroupQueryAttention) {
  std::string Args =
      "%x: tensor<1x3x128xf32>, %q: tensor<1x3x64xf32>, %k: "
      "tensor<1x3x32xf32>, %v: tensor<1x3x32xf32>, %pk: tensor<1x2x2x16xf32>, "
      "%pv: tensor<1x2x2x16xf32>, %c: tensor<9x8xf32>, %s: tensor<9x8xf32>, "
      "%h: tensor<4xf32>";
  for (bool Packed : {false, true})
    for (bool Rotary : {false, true})
      for (const char *Attrs :
           {"", ", local_window_size = 2 : i64", ", softcap = 1.5 : f32",
            ", scale = 0.7 : f32", ", smooth_softmax = 1 : i64",
            ", rotary_interleaved = 1 : i64"})
        expectSame(Args, grouped(Packed, Rotary, "%n", Attrs), "%a, %b, %d");
  expectSame(Args, grouped(true, true, "%h", ""), "%a, %b, %d");
}

TEST(ExpandFused, MultiHeadAttention) {
  std::string Caches = ", %pk: tensor<1x2x2x8xf32>, %pv: tensor<1x2x2x8xf32>";
  std::string Rows = "%q: tensor<1x3x16xf32>, %k: tensor<1x3x16xf32>, %v: "
                     "tensor<1x3x16xf32>, %bias: tensor<48xf32>, %m: "
                     "tensor<1x2x3x5xf32>";
  std::string Out = " -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, "
                    "tensor<*xf32>)";
  std::string Padding = "  %w = onnx.constant dense<[[0, 1, 1, 1, 1]]> : "
                        "tensor<1x5xi32>\n";
  for (const char *Attrs :
       {"", ", unidirectional = 1 : i64", ", scale = 0.7 : f32"})
    expectSame(Rows + Caches,
               Padding +
                   "  %a, %b, %c, %d = onnx.ms_multi_head_attention %q, %k, "
                   "%v, %bias, %w, %m, %pk, %pv, %n, %n {num_heads = 2 : i64" +
                   Attrs +
                   "} : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, "
                   "tensor<1x3x16xf32>, tensor<48xf32>, tensor<1x5xi32>, "
                   "tensor<1x2x3x5xf32>, tensor<1x2x2x8xf32>, "
                   "tensor<1x2x2x8xf32>, none, none)" +
                   Out,
               "%a, %b, %c");
  expectSame("%x: tensor<1x3x2x3x8xf32>",
             "  %a, %b, %c, %d = onnx.ms_multi_head_attention %x, %n, %n, %n, "
             "%n, %n, %n, %n, %n, %n {num_heads = 2 : i64, unidirectional = 1 "
             ": i64} : (tensor<1x3x2x3x8xf32>, none, none, none, none, none, "
             "none, none, none, none)" +
                 Out,
             "%a");
  expectSame("%q: tensor<1x3x16xf32>, %y: tensor<1x3x2x2x8xf32>",
             "  %a, %b, %c, %d = onnx.ms_multi_head_attention %q, %y, %n, %n, "
             "%n, %n, %n, %n, %n, %n {num_heads = 2 : i64} : "
             "(tensor<1x3x16xf32>, tensor<1x3x2x2x8xf32>, none, none, none, "
             "none, none, none, none, none)" +
                 Out,
             "%a");
}

TEST(ExpandFused, AttentionWithWeightsInside) {
  std::string Args = "%x: tensor<1x3x6xf32>, %w: tensor<6x48xf32>, %bias: "
                     "tensor<48xf32>, %p: tensor<2x1x2x2x8xf32>";
  std::string Mask = "  %m = onnx.constant dense<[[0, 1, 1, 1, 1]]> : "
                     "tensor<1x5xi32>\n";
  for (const char *Attrs : {"", ", unidirectional = 1 : i64"})
    expectSame(Args,
               Mask +
                   "  %a, %b = onnx.ms_attention %x, %w, %bias, %m, %p, %n, %n "
                   "{num_heads = 2 : i64" +
                   Attrs +
                   "} : (tensor<1x3x6xf32>, tensor<6x48xf32>, tensor<48xf32>, "
                   "tensor<1x5xi32>, tensor<2x1x2x2x8xf32>, none, none) -> "
                   "(tensor<*xf32>, tensor<*xf32>)",
               "%a, %b");
}
} // namespace
