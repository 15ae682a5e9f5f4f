// See SmallModel.h.
#include "test/compiler/pipeline/SmallModel.h"

#include <algorithm>
#include <sstream>

namespace llmc {

SmallModel smallModel(int Layers, int Window) {
  std::ostringstream S, F;
  int64_t Offset = 0;
  auto Weight = [&](const std::string &Name, int Rows, int Cols) {
    std::string Type =
        Cols ? std::to_string(Rows) + "x" + std::to_string(Cols) + "xf32"
             : std::to_string(Rows) + "xf32";
    int64_t Bytes = 4 * Rows * std::max(Cols, 1);
    S << "llm.source @" << Name << ".s : tensor<" << Type
      << "> {file = 1, offset = " << Offset << ", length = " << Bytes
      << "}\nllm.weight @" << Name << " : tensor<" << Type
      << "> [#llm.piece<source = @" << Name << ".s, begin = 0, count = " << Rows
      << ">]\n";
    Offset += Bytes;
  };
  const std::string T = "tensor<?x32xf32>", K = "tensor<?x16xf32>";
  auto Linear = [&](const std::string &To, const std::string &X,
                    const std::string &W, const std::string &Type) {
    F << To << " = llm.linear " << X << ", @" << W << " : (" << T << ") -> "
      << Type << " loc(\"/" << W << "\")\n";
  };
  auto Norm = [&](const std::string &To, const std::string &X,
                  const std::string &G) {
    F << To << " = llm.norm " << X << " {kind = 1 : i64, gain = @" << G
      << ", eps = 1.0e-5 : f32} : (" << T << ") -> " << T << "\n";
  };
  S << "module attributes {llm.model = {vocab = 48 : i64, hidden = 32 : i64, "
       "max_positions = 1024 : i64}} {\n";
  Weight("emb", 48, 32);
  S << "llm.source @freq.s : tensor<8xf32> {data = dense<[1.0, 0.5, 0.25, "
       "0.1, 0.05, 0.02, 0.01, 0.005]> : tensor<8xf32>}\n"
       "llm.weight @freq : tensor<8xf32> [#llm.piece<source = @freq.s, "
       "begin = 0, count = 8>]\n";
  F << "func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>) -> "
       "tensor<?x48xf32> {\n%x0 = llm.embed %ids, @emb : (tensor<?xi32>) -> "
    << T << "\n%t = llm.rope_table %pos {freq = @freq} : (tensor<?xi32>) -> "
    << K << "\n";
  for (int L = 0; L != Layers; ++L) {
    std::string P = "l" + std::to_string(L) + ".", I = std::to_string(L);
    for (const char *Name : {"q", "o", "gate", "up", "down"})
      Weight(P + Name, 32, 32);
    Weight(P + "k", 16, 32);
    Weight(P + "v", 16, 32);
    Weight(P + "n1", 32, 0);
    Weight(P + "n2", 32, 0);
    S << "llm.state @" << P << "kv {kind = \"paged_kv\", index = " << L
      << " : i64, kv_heads = 1 : i64, head_dim = 16 : i64, v_head_dim = 16 "
         ": i64}\n";
    Norm("%n" + I, "%x" + I, P + "n1");
    Linear("%q" + I, "%n" + I, P + "q", T);
    Linear("%k" + I, "%n" + I, P + "k", K);
    Linear("%v" + I, "%n" + I, P + "v", K);
    F << "%qr" << I << " = llm.rope %q" << I
      << ", %t {heads = 2 : i64, head_dim = 16 : i64, rotary_half = 8 : "
         "i64} : ("
      << T << ", " << K << ") -> " << T << "\n%kr" << I << " = llm.rope %k" << I
      << ", %t {heads = 1 : i64, head_dim = 16 : i64, rotary_half = 8 : "
         "i64} : ("
      << K << ", " << K << ") -> " << K << "\nllm.kv_write %kr" << I << ", %v"
      << I << ", @" << P << "kv : " << K << ", " << K << "\n%a" << I
      << " = llm.attention %qr" << I << ", @" << P
      << "kv {heads = 2 : i64, scale = 0.25 : f32, window = "
      << (L % 2 ? Window : 0) << " : i64} : (" << T << ") -> " << T << "\n";
    Linear("%o" + I, "%a" + I, P + "o", T);
    F << "%y" << I << " = llm.add %x" << I << ", %o" << I << " : (" << T << ", "
      << T << ") -> " << T << "\n";
    Norm("%m" + I, "%y" + I, P + "n2");
    Linear("%g" + I, "%m" + I, P + "gate", T);
    Linear("%u" + I, "%m" + I, P + "up", T);
    F << "%h" << I << " = llm.glu %g" << I << ", %u" << I
      << " {kind = 1 : i64} : (" << T << ", " << T << ") -> " << T << "\n";
    Linear("%d" + I, "%h" + I, P + "down", T);
    F << "%x" << L + 1 << " = llm.add %y" << I << ", %d" << I << " : (" << T
      << ", " << T << ") -> " << T << "\n";
  }
  Weight("norm", 32, 0);
  Norm("%nf", "%x" + std::to_string(Layers), "norm");
  F << "%l = llm.logits %nf, @emb : (" << T
    << ") -> tensor<?x48xf32>\nreturn %l : tensor<?x48xf32>\n}\n";
  return {S.str() + F.str() + "}\n", Offset};
}

} // namespace llmc
