// Attention, caches, recurrent mixers and their verifiers.
#include "dialects/onnx/Onnx.h"
#include "dialects/support/Verify.h"

using namespace mlir;
using namespace llmc::onnx;

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxAttentionOps.cpp.inc"

void OnnxDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxAttentionOps.cpp.inc"
      >();
}

static LogicalResult verifyHeads(Operation *Op, const char *Constraint,
                                 int64_t Queries, int64_t Keys) {
  if (Queries > 0 && Keys > 0 && Queries % Keys == 0)
    return success();
  return Op->emitOpError(Constraint)
         << ": q_num_heads " << Queries
         << " is no positive multiple of kv_num_heads " << Keys;
}

LogicalResult AttentionOp::verify() {
  if (isNone(getPastKey()) != isNone(getPastValue()))
    return emitOpError("C1: one of past_key and past_value is absent");
  if (!isNone(getPastKey()) && !isNone(getNonpadKvSeqlen()))
    return emitOpError("C2: both past_key and nonpad_kv_seqlen are given");
  std::optional<int64_t> Queries = getQNumHeads(), Keys = getKvNumHeads();
  if (Queries || Keys)
    return verifyHeads(*this, "C3", Queries.value_or(0), Keys.value_or(0));
  return success();
}

LogicalResult LinearAttentionOp::verify() {
  return verifyHeads(*this, "C1", getQNumHeads(), getKvNumHeads());
}
