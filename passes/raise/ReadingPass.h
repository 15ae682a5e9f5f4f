// What the raise passes that read weights share: the graph is looked up, and
// the reader opened from the option --model unless the pipeline gave one.
#ifndef LLMC_PASSES_RAISE_READINGPASS_H
#define LLMC_PASSES_RAISE_READINGPASS_H

#include "passes/raise/Match.h"
#include "passes/raise/Probe.h"

#include "mlir/Pass/Pass.h"

#include <memory>
#include <utility>

namespace llmc::raise {

/// Base is the generated base of a pass of modules with the option Model.
template <typename Base> class ReadingPass : public Base {
public:
  using Base::Base;
  eval::WeightReader Reader;

  void runOnOperation() final {
    mlir::func::FuncOp Main = graphOf(this->getOperation());
    if (!Main)
      return;
    if (mlir::failed(openReader(this->getOperation(), this->Model, Reader)))
      return this->signalPassFailure();
    runOnGraph(Main);
  }

protected:
  virtual void runOnGraph(mlir::func::FuncOp Main) = 0;
};

template <typename PassT>
std::unique_ptr<PassT> withReader(eval::WeightReader Reader) {
  std::unique_ptr<PassT> P = std::make_unique<PassT>();
  P->Reader = std::move(Reader);
  return P;
}

} // namespace llmc::raise

#endif // LLMC_PASSES_RAISE_READINGPASS_H
