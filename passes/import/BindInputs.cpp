// llmc-bind-inputs: inputs that tell a graph what the runtime decides itself
// become what the step function means by them: one row of logits is kept (which
// rows those are is said at run time), sequences of a batch stay where they
// are, every token is of the first type. Found by how they are used; names only
// tell positions from types.
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/util/Constants.h"
#include "passes/util/DeadCode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace llmc {
#define GEN_PASS_DEF_BINDINPUTS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

/// Rows of a table of token types, at most; positions have more.
constexpr int64_t MostTypes = 8;

int64_t rankOf(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  return Type ? Type.getRank() : -1;
}

bool isRenamed(Operation *Op) {
  return isa<onnx::IdentityOp, onnx::CastOp, onnx::SqueezeOp, onnx::UnsqueezeOp,
             onnx::ReshapeOp>(Op);
}

/// A use of an argument behind ops that rename or negate it.
struct Use {
  OpOperand *Operand;
  bool Negated;
};

/// All of them; empty when there are too many.
SmallVector<Use> usesOf(BlockArgument Arg) {
  constexpr size_t Most = 256;
  SmallVector<Use> Out;
  SmallVector<std::pair<Value, bool>> Work{{Arg, false}};
  while (!Work.empty() && Out.size() < Most) {
    auto [V, Negated] = Work.pop_back_val();
    for (OpOperand &Operand : V.getUses()) {
      Operation *User = Operand.getOwner();
      bool First = Operand.getOperandNumber() == 0;
      bool Negates = (First && isa<onnx::NegOp>(User)) ||
                     (!First && isa<onnx::SubOp>(User)) ||
                     (isa<onnx::MulOp>(User) &&
                      integerOf(User->getOperand(First ? 1 : 0)) == -1);
      if (Negates || (First && isRenamed(User)))
        Work.push_back({User->getResult(0), Negated != Negates});
      else
        Out.push_back({&Operand, Negated});
    }
  }
  return Out.size() < Most ? Out : SmallVector<Use>();
}

Value integersLike(OpBuilder &B, Location Loc, Type Element,
                   ArrayRef<int64_t> Shape, int64_t Value) {
  auto Type = RankedTensorType::get(Shape, Element);
  auto Attr = DenseIntElementsAttr::get(
      Type, APInt(Element.getIntOrFloatBitWidth(), uint64_t(Value), true));
  return onnx::ConstantOp::create(B, Loc, Type, Attr);
}

struct BindInputs : impl::BindInputsBase<BindInputs> {
  void runOnOperation() override {
    auto Main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!Main || Main.isExternal())
      return;
    for (BlockArgument Arg : Main.getArguments()) {
      auto Type = dyn_cast<RankedTensorType>(Arg.getType());
      auto Element =
          Type ? dyn_cast<IntegerType>(Type.getElementType()) : IntegerType();
      if (!Element || Element.getWidth() == 1)
        continue;
      SmallVector<Use> Uses = usesOf(Arg);
      if (!Uses.empty() && !keepOne(Arg, Type, Uses) && !stay(Type, Uses))
        oneType(Arg, Main, Uses);
    }
    eraseDeadOps(Main.getBody());
  }

  /// x[:, -count:] and x[:, indices]: the last row.
  bool keepOne(BlockArgument Arg, RankedTensorType Type, ArrayRef<Use> Uses) {
    if (Type.getRank() > 1)
      return false;
    bool Counts = llvm::all_of(Uses, [](const Use &U) {
      return isa<onnx::SliceOp>(U.Operand->getOwner()) &&
             U.Operand->getOperandNumber() == 1 && U.Negated;
    });
    bool Indices = llvm::all_of(Uses, [](const Use &U) {
      auto Gather = dyn_cast<onnx::GatherOp>(U.Operand->getOwner());
      return Gather && U.Operand->getOperandNumber() == 1 && !U.Negated &&
             Gather.getAxis() == 1 && rankOf(Gather.getData()) == 3 &&
             Gather.getData().getDefiningOp();
    });
    if (!Counts && !Indices)
      return false;
    OpBuilder B = OpBuilder::atBlockBegin(Arg.getOwner());
    SmallVector<int64_t> Shape(size_t(Type.getRank()), 1);
    Arg.replaceAllUsesWith(integersLike(B, Arg.getLoc(), Type.getElementType(),
                                        Shape, Counts ? 1 : -1));
    return true;
  }

  /// Caches gathered by the sequence that each one continues.
  bool stay(RankedTensorType Type, ArrayRef<Use> Uses) {
    bool Beams = Type.getRank() == 1 && llvm::all_of(Uses, [](const Use &U) {
                   auto Gather =
                       dyn_cast<onnx::GatherOp>(U.Operand->getOwner());
                   return Gather && U.Operand->getOperandNumber() == 1 &&
                          !U.Negated && isa<BlockArgument>(Gather.getData()) &&
                          rankOf(Gather.getData()) >= 3;
                 });
    if (!Beams)
      return false;
    for (const Use &U : Uses) {
      auto Gather = cast<onnx::GatherOp>(U.Operand->getOwner());
      Gather.getOutput().replaceAllUsesWith(Gather.getData());
    }
    return true;
  }

  /// Rows of a small table that are added to those of the tokens.
  void oneType(BlockArgument Arg, func::FuncOp Main, ArrayRef<Use> Uses) {
    auto Name = Main.getArgAttrOfType<StringAttr>(Arg.getArgNumber(),
                                                  llmc::onnx::NameAttr);
    std::string Low = Name ? Name.getValue().lower() : std::string();
    bool Named =
        StringRef(Low).contains("type") || StringRef(Low).contains("segment");
    bool Types = llvm::all_of(Uses, [&](const Use &U) {
      auto Gather = dyn_cast<onnx::GatherOp>(U.Operand->getOwner());
      if (!Gather || U.Operand->getOperandNumber() != 1 || U.Negated ||
          Gather.getAxis() != 0 || rankOf(Gather.getData()) != 2)
        return false;
      int64_t Rows =
          cast<RankedTensorType>(Gather.getData().getType()).getDimSize(0);
      return Rows > 0 && (Named || Rows <= MostTypes) &&
             llvm::all_of(Gather->getUsers(), [](Operation *User) {
               return isa<onnx::AddOp>(User);
             });
    });
    if (!Types || StringRef(Low).contains("pos"))
      return;
    Main.emitWarning() << "input '" << (Name ? Name.getValue() : StringRef())
                       << "' is taken as 0 for every token";
    for (const Use &U : Uses) {
      auto Gather = cast<onnx::GatherOp>(U.Operand->getOwner());
      auto Table = cast<RankedTensorType>(Gather.getData().getType());
      OpBuilder B(Gather);
      Value Zero = integersLike(B, Gather.getLoc(), B.getI64Type(), {}, 0);
      Gather->setOperand(1, Zero);
      Gather.getOutput().setType(
          RankedTensorType::get({Table.getDimSize(1)}, Table.getElementType()));
    }
  }
};
} // namespace
} // namespace llmc
