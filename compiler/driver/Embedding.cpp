// A graph that was exported without its embedding takes rows [batch, sequence,
// hidden]. With the table beside it the graph gets an input of ids and a Gather
// in front, and is then like any other. The table is read as a whole: it is the
// largest tensor of most models, and one of those fits into the bound on
// memory.
#include "compiler/driver/Embedding.h"

#include "dialects/onnx/Onnx.h"
#include "runtime/base/File.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <charconv>
#include <cstring>
#include <filesystem>

using namespace mlir;

namespace llmc {
namespace {

Result<std::vector<uint8_t>> readWhole(const std::string &Path) {
  std::error_code Error;
  if (!std::filesystem::is_regular_file(Path, Error))
    return malformedError("embedding '" + Path + "' is no file");
  Result<std::vector<uint8_t>> Bytes = readFile(Path, UINT64_MAX);
  if (!Bytes.ok())
    return malformedError("cannot read embedding '" + Path + "'");
  return Bytes;
}

/// What the header of a .npy file says.
struct NpyTable {
  int64_t Rows = 0, Columns = 0;
  bool Half = false;
  uint64_t Offset = 0; ///< of the data
};

/// The text behind 'Key': in the header's dictionary.
std::string_view valueOf(std::string_view Header, std::string_view Key) {
  size_t At = Header.find("'" + std::string(Key) + "'");
  At = At == std::string_view::npos ? At : Header.find(':', At);
  if (At == std::string_view::npos)
    return {};
  Header.remove_prefix(At + 1);
  while (!Header.empty() && Header.front() == ' ')
    Header.remove_prefix(1);
  return Header;
}

/// Format: numpy/lib/format.py: magic, version, length of the header, a Python
/// dictionary in ASCII.
Result<NpyTable> readHeader(const WeightStore &Store, uint32_t File,
                            const std::string &Path) {
  auto Wrong = [&](const std::string &What) {
    return malformedError("embedding '" + Path + "': " + What);
  };
  uint8_t Fixed[12] = {};
  uint64_t Size = Store.size(File);
  if (Size < sizeof Fixed)
    return Wrong("expected a .npy file, found " + std::to_string(Size) +
                 " bytes");
  LLMC_RETURN_IF_ERROR(Store.read(File, 0, Fixed, Path));
  if (std::memcmp(Fixed, "\x93NUMPY", 6) != 0)
    return Wrong("expected a .npy file, its magic is missing");
  uint64_t Begin = Fixed[6] == 1 ? 10 : 12, Length = Fixed[8] | Fixed[9] << 8;
  if (Fixed[6] > 1)
    Length |= uint64_t{Fixed[10]} << 16 | uint64_t{Fixed[11]} << 24;
  if (Length > 65536 || Begin + Length > Size)
    return Wrong("its header of " + std::to_string(Length) +
                 " bytes does not fit into " + std::to_string(Size));
  std::vector<uint8_t> Bytes(Length);
  LLMC_RETURN_IF_ERROR(Store.read(File, Begin, Bytes, Path));
  std::string_view Header(reinterpret_cast<const char *>(Bytes.data()), Length);
  NpyTable T;
  T.Offset = Begin + Length;
  std::string_view Kind = valueOf(Header, "descr");
  T.Half = Kind.starts_with("'<f2'");
  if (!T.Half && !Kind.starts_with("'<f4'"))
    return Wrong("expected elements of type <f4 or <f2, found " +
                 std::string(Kind.substr(0, 8)));
  if (!valueOf(Header, "fortran_order").starts_with("False"))
    return Wrong("expected rows in C order");
  std::string_view Shape = valueOf(Header, "shape");
  int64_t Dims[2] = {0, 0};
  const char *At = Shape.data() + (Shape.empty() ? 0 : 1),
             *End = Shape.data() + Shape.size();
  for (int64_t &Dim : Dims) {
    while (At < End && (*At == ' ' || *At == ','))
      ++At;
    auto [Next, Error] = std::from_chars(At, End, Dim);
    if (Error != std::errc() || Dim < 1 || Dim > (int64_t(1) << 31))
      return Wrong("expected a shape of two dims");
    At = Next;
  }
  while (At < End && (*At == ' ' || *At == ','))
    ++At;
  if (At >= End || *At != ')')
    return Wrong("expected a shape of two dims");
  T.Rows = Dims[0];
  T.Columns = Dims[1];
  uint64_t Needed = uint64_t(T.Rows) * uint64_t(T.Columns) * (T.Half ? 2 : 4);
  if (Size - T.Offset < Needed)
    return Wrong("expected " + std::to_string(Needed) +
                 " bytes of data, found " + std::to_string(Size - T.Offset));
  return T;
}

/// The only input of rows: [batch, sequence, hidden] of floats.
BlockArgument rowsInput(func::FuncOp Main) {
  BlockArgument Found;
  for (BlockArgument Arg : Main.getArguments()) {
    auto Type = dyn_cast<RankedTensorType>(Arg.getType());
    if (!Type || Type.getRank() != 3 ||
        !isa<FloatType>(Type.getElementType()) || Type.isDynamicDim(2))
      continue;
    auto Name =
        Main.getArgAttrOfType<StringAttr>(Arg.getArgNumber(), onnx::NameAttr);
    bool Named = Name && Name.getValue().contains("embed");
    if (Named)
      return Arg;
    // Without a telling name: there must be no other (states have such shapes).
    if (Found)
      return {};
    Found = Arg;
  }
  return Found;
}
} // namespace

Status bindEmbedding(ModuleOp Graph, WeightStore &Store,
                     const std::string &Path) {
  auto Main = Graph.lookupSymbol<func::FuncOp>("main");
  BlockArgument Rows = Main ? rowsInput(Main) : BlockArgument();
  if (!Rows)
    return unsupportedError(
        "--embedding is for a graph with one input of "
        "embedding rows [batch, sequence, hidden], this one "
        "has none");
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Bytes, readWhole(Path));
  uint32_t File = Store.addMemory(std::move(Bytes));
  LLMC_ASSIGN_OR_RETURN(NpyTable T, readHeader(Store, File, Path));
  auto Type = cast<RankedTensorType>(Rows.getType());
  if (T.Columns != Type.getDimSize(2))
    return malformedError(
        "embedding '" + Path + "' has rows of " + std::to_string(T.Columns) +
        " values, the graph takes " + std::to_string(Type.getDimSize(2)));
  OpBuilder B(Graph.getContext());
  B.setInsertionPointToStart(Graph.getBody());
  mlir::Type Stored = T.Half ? mlir::Type(B.getF16Type()) : B.getF32Type();
  auto TableType = RankedTensorType::get({T.Rows, T.Columns}, Stored);
  SymbolTable Symbols(Graph);
  auto Data = onnx::WeightDataOp::create(
      B, Main.getLoc(), B.getStringAttr("embedding.table"),
      B.getI64IntegerAttr(File), B.getI64IntegerAttr(int64_t(T.Offset)),
      B.getI64IntegerAttr(T.Rows * T.Columns * (T.Half ? 2 : 4)),
      TypeAttr::get(TableType));
  Data->remove();
  Symbols.insert(Data, Graph.getBody()->begin());

  Attribute Known;
  if (auto Dims = dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding()))
    Known =
        onnx::DimsAttr::get(Graph.getContext(), Dims.getExprs().take_front(2));
  auto Ids = RankedTensorType::get(Type.getShape().take_front(2),
                                   B.getI64Type(), Known);
  unsigned At = Rows.getArgNumber();
  if (failed(Main.insertArgument(
          At, Ids,
          B.getDictionaryAttr(
              B.getNamedAttr(onnx::NameAttr, B.getStringAttr("input_ids"))),
          Main.getLoc())))
    return internalError("an input cannot be added to the graph");
  Rows = Main.getArgument(At + 1);
  B.setInsertionPointToStart(&Main.getBody().front());
  Location Loc = NameLoc::get(B.getStringAttr("embedding"));
  Value Table = onnx::WeightOp::create(B, Loc, TableType, Data.getSymName());
  auto Looked =
      RankedTensorType::get(Type.getShape(), Stored, Type.getEncoding());
  Value Out =
      onnx::GatherOp::create(B, Loc, Looked, Table, Main.getArgument(At), 0);
  if (Looked != Type)
    Out = onnx::CastOp::create(B, Loc, Type, Out, Type.getElementType(), 1);
  Rows.replaceAllUsesWith(Out);
  if (failed(Main.eraseArgument(At + 1)))
    return internalError("an input cannot be taken out of the graph");
  return {};
}

} // namespace llmc
