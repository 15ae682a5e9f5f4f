// See PhaseBuilder.h.
#include "passes/lowering/PhaseBuilder.h"

#include "passes/util/NodeNames.h"

using namespace mlir;

namespace llmc {

PhaseBuilder::PhaseBuilder(MLIRContext *Context, StringRef Kernel)
    : Info(kernels::findKernel(Kernel.str())), Attrs(Context) {
  assert(Info && "kernel is not in the catalogue");
  exe::BufferAttr None =
      exe::BufferAttr::get(Context, exe::BufferKind::none, StringAttr());
  Buffers.assign(Info->Buffers.size(), None);
}

PhaseBuilder &PhaseBuilder::buffer(StringRef Name, exe::BufferAttr Buffer) {
  for (size_t I = 0; I != Info->Buffers.size(); ++I)
    if (StringRef(Info->Buffers[I]) == Name) {
      if (Buffer)
        Buffers[I] = Buffer;
      return *this;
    }
  llvm_unreachable("the kernel has no such buffer");
}

PhaseBuilder &PhaseBuilder::integer(StringRef Name, int64_t Value) {
  Consts.push_back(Attrs.getNamedAttr(Name, Attrs.getI64IntegerAttr(Value)));
  return *this;
}

PhaseBuilder &PhaseBuilder::real(StringRef Name, llvm::APFloat Value) {
  Consts.push_back(
      Attrs.getNamedAttr(Name, Attrs.getF32FloatAttr(Value.convertToFloat())));
  return *this;
}

exe::PhaseOp PhaseBuilder::build(OpBuilder &B, Location Loc, int64_t Layer) {
  llvm::SmallSetVector<StringRef, 8> Names;
  collectNodeNames(Loc, Names);
  ArrayAttr Nodes;
  if (!Names.empty())
    Nodes = B.getStrArrayAttr(Names.getArrayRef());
  return exe::PhaseOp::create(B, Loc, Info->Name, B.getArrayAttr(Buffers),
                              B.getDictionaryAttr(Consts), Layer, Nodes);
}

} // namespace llmc
