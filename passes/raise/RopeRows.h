// Where the elements of a rotated value come from: its rows may be all features
// of one value, or some of them, in another order.
#ifndef LLMC_PASSES_RAISE_ROPEROWS_H
#define LLMC_PASSES_RAISE_ROPEROWS_H

#include "passes/raise/Probe.h"

#include <vector>

namespace llmc::raise {

/// Rows of one value as they lie in memory: [batch, tokens, features],
/// [batch, tokens, heads, dim], or with HeadsFirst [batch, heads, tokens, dim].
struct RowLayout {
  int64_t Features = 0, Dim = 0;
  bool HeadsFirst = false;

  int64_t at(int64_t Token, int64_t Feature, int64_t Tokens) const {
    return HeadsFirst ? (Feature / Dim * Tokens + Token) * Dim + Feature % Dim
                      : Token * Features + Feature;
  }
};

/// The layout of X in the sample of P; no features if it is not known.
RowLayout layoutOf(mlir::Value X, Probe &P);

/// Fills Features with what Y [heads, dim], laid out as Out, takes of the rows
/// of X at position 0, where a rotation is none: the first Rotated elements of
/// a head come times Scaling. False when an element is not one of X's. Binds X
/// in P, whose first token must be at position 0.
bool readFeatures(Probe &P, mlir::Value X, const RowLayout &In, mlir::Value Y,
                  const RowLayout &Out, int64_t Rotated, double Scaling,
                  std::vector<int64_t> &Features);

/// Whether Features are all of Width in their order.
bool areAll(mlir::ArrayRef<int64_t> Features, int64_t Width);

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_ROPEROWS_H
