// Registration and accessors of the exe dialect; the verifiers are in
// ExeVerify.cpp.
#include "dialects/exe/ExeDialect.h"

#include "compiler/kernels/Catalogue.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::exe;

#include "dialects/exe/ExeDialect.cpp.inc"
#include "dialects/exe/ExeEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/exe/ExeAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/exe/ExeOps.cpp.inc"

void ExeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/exe/ExeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/exe/ExeOps.cpp.inc"
      >();
}

StepOp ProgramOp::getStep() {
  for (StepOp Step : getBody().getOps<StepOp>())
    return Step;
  return nullptr;
}

int64_t LayersOp::layerOf(PhaseOp Phase, int64_t Round) {
  return getFirst() + Round * getStride() + Phase.getLayer();
}

ArrayAttr LayersOp::nodesOf(int64_t Round, int64_t Index) {
  if (!getNodes() || Round < 0 ||
      Round >= static_cast<int64_t>(getNodes()->size()))
    return nullptr;
  ArrayAttr Phases = dyn_cast<ArrayAttr>((*getNodes())[Round]);
  if (!Phases || Index < 0 || Index >= static_cast<int64_t>(Phases.size()))
    return nullptr;
  return dyn_cast<ArrayAttr>(Phases[Index]);
}

BufferAttr PhaseOp::getBuffer(llvm::StringRef Name) {
  const llmc::kernels::KernelInfo *Info =
      llmc::kernels::findKernel(getKernel().str());
  for (size_t I = 0; Info && I != Info->Buffers.size(); ++I)
    if (llvm::StringRef(Info->Buffers[I]) == Name)
      return cast<BufferAttr>(getBuffers()[I]);
  return nullptr;
}

int64_t PhaseOp::getInt(llvm::StringRef Name) {
  return getConsts().getAs<IntegerAttr>(Name).getInt();
}

float PhaseOp::getFloat(llvm::StringRef Name) {
  return getConsts().getAs<FloatAttr>(Name).getValue().convertToFloat();
}
