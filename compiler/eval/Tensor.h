// The value type of the scalar evaluator: a dense host tensor of any element
// type that ONNX graphs compute with, and the budget that every operation
// draws from. No MLIR here, so that tests and tools can use the operations on
// their own.
#ifndef LLMC_COMPILER_EVAL_TENSOR_H
#define LLMC_COMPILER_EVAL_TENSOR_H

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace llmc::eval {

using Dims = std::vector<int64_t>;

/// A dense row-major tensor. Elements below one byte are stored one per byte;
/// bool is 0 or 1. An absent optional operand is a Tensor of type None.
struct Tensor {
  DType Type = DType::None;
  Dims Shape;
  std::vector<uint8_t> Bytes;

  bool present() const { return Type != DType::None; }
  int64_t rank() const { return static_cast<int64_t>(Shape.size()); }
  int64_t count() const;
  template <typename T> T *data() {
    return reinterpret_cast<T *>(Bytes.data());
  }
  template <typename T> const T *data() const {
    return reinterpret_cast<const T *>(Bytes.data());
  }

  /// Tensors from values, converted to `Type` as Cast does (tests, samples).
  static Tensor ofFloats(DType Type, Dims Shape,
                         const std::vector<double> &Values);
  static Tensor ofInts(DType Type, Dims Shape,
                       const std::vector<int64_t> &Values);
};

/// What an evaluation may use. Exceeding it is a failure that says so, never a
/// hang or an exhausted machine.
class Budget {
public:
  Budget(int64_t MaxElements, int64_t MaxOperations)
      : Elements(MaxElements), Operations(MaxOperations) {}

  /// A zeroed tensor; fails when its size overflows or exceeds what is left.
  Result<Tensor> allocate(DType Type, const Dims &Shape);
  /// Accounts for scalar operations.
  Status work(int64_t Count);

  int64_t elementsLeft() const { return Elements; }
  int64_t operationsLeft() const { return Operations; }

private:
  int64_t Elements;
  int64_t Operations;
};

bool isFloat(DType T);
bool isInteger(DType T); ///< signed or unsigned, not bool
bool isSigned(DType T);  ///< a signed integer
/// Bytes of one element as stored in a Tensor (at least 1).
unsigned storedBytes(DType T);
/// "f32[2, 3]" for messages.
std::string describe(const Tensor &T);

/// All elements as float, double or int64, whatever the type is. Floats become
/// integers by truncation; NaN and infinities become 0.
template <typename Wide> std::vector<Wide> load(const Tensor &T);
/// Writes elements rounded (floats) or wrapped (integers) to the type of T.
template <typename Wide> void store(Tensor &T, const std::vector<Wide> &Values);

/// The nearest value that T has; of integers the value itself.
double roundTo(DType T, double Value);

/// One element as integer; the index must be in range.
int64_t intAt(const Tensor &T, int64_t Index);
double floatAt(const Tensor &T, int64_t Index);

/// Row-major strides in elements.
Dims stridesOf(const Dims &Shape);
/// Product of all dims, or -1 when it does not fit.
int64_t countOf(const Dims &Shape);
/// Axis in [0, Rank), negative ones counted from the end.
Result<int64_t> normaliseAxis(int64_t Axis, int64_t Rank);
/// Multidirectional broadcast of two shapes.
Result<Dims> broadcastShapes(const Dims &A, const Dims &B);
/// Strides of a shape seen through a broadcast to Target (0 where repeated).
Dims broadcastStrides(const Dims &Shape, const Dims &Target);

/// Calls Fn(linear index, offsets) over all index tuples of Shape in row-major
/// order, where offsets[i] is the position in the i-th stride set.
template <typename F>
void forEachIndex(const Dims &Shape, const std::vector<Dims> &Strides, F Fn) {
  int64_t Total = countOf(Shape);
  size_t Rank = Shape.size(), Sets = Strides.size();
  Dims Index(Rank, 0);
  Dims Offsets(Sets, 0);
  for (int64_t I = 0; I < Total; ++I) {
    Fn(I, Offsets.data());
    for (size_t D = Rank; D-- > 0;) {
      if (++Index[D] < Shape[D]) {
        for (size_t S = 0; S < Sets; ++S)
          Offsets[S] += Strides[S][D];
        break;
      }
      for (size_t S = 0; S < Sets; ++S)
        Offsets[S] -= Strides[S][D] * (Shape[D] - 1);
      Index[D] = 0;
    }
  }
}

} // namespace llmc::eval

#endif // LLMC_COMPILER_EVAL_TENSOR_H
