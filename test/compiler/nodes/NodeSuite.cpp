// Runs the node test cases that tools/dev/node_cases.py writes through the
// importer, the import passes and the evaluator, in three forms: shapes as
// declared, all dims unknown, inputs as constants.
//
//   NodeSuite DIR SKIPPED [FORM]
//
// SKIPPED lists what is not run: per line a name (`*` at its end for any rest)
// and the reason. A case passes when every output has the expected type,
// shape and values and the shapes that the passes derived agree with it.
// Prints a line per failure, then `FORM: N passed, N failed, N skipped` per
// form. Exits 1 if a case failed or a line of SKIPPED names none.
#include "compiler/eval/Convert.h"
#include "compiler/eval/Evaluator.h"
#include "compiler/eval/SmallFloat.h"
#include "compiler/frontend/onnx/Import.h"
#include "dialects/onnx/Onnx.h"
#include "passes/import/Passes.h"
#include "passes/import/ShapeAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace llmc;
using namespace llmc::eval;

namespace {

struct Case {
  std::string Name;
  double Tolerance;
  int Inputs; ///< -1: no files
};

struct SkipRule {
  std::string Pattern, Reason;
  int Used = 0;

  bool matches(const std::string &Name) const {
    if (Pattern.ends_with('*'))
      return Name.starts_with(Pattern.substr(0, Pattern.size() - 1));
    return Name == Pattern;
  }
};

std::vector<Case> readCases(const std::string &Folder) {
  std::vector<Case> Out;
  std::ifstream In(Folder + "/cases.txt");
  std::string Line;
  while (std::getline(In, Line)) {
    std::istringstream Fields(Line);
    Case C;
    std::string Inputs;
    Fields >> C.Name >> C.Tolerance >> Inputs;
    C.Inputs = Inputs == "-" ? -1 : std::stoi(Inputs);
    Out.push_back(C);
  }
  return Out;
}

std::vector<SkipRule> readSkipped(const char *File) {
  std::vector<SkipRule> Out;
  std::ifstream In(File);
  std::string Line;
  while (std::getline(In, Line)) {
    if (Line.empty() || Line[0] == '#')
      continue;
    size_t Space = Line.find(' ');
    Out.push_back({Line.substr(0, Space), Line.substr(Space + 1)});
  }
  return Out;
}

/// An imported model and what its weights are read from.
struct Graph {
  mlir::MLIRContext Context{mlir::MLIRContext::Threading::DISABLED};
  WeightStore Store;
  mlir::OwningOpRef<mlir::ModuleOp> Module;

  Status open(const std::string &File) {
    LLMC_ASSIGN_OR_RETURN(Module, importOnnx(Context, File, {}, Store));
    return Status::success();
  }
  /// The passes up to raising, with the first diagnostic as the error.
  Status simplify() {
    std::string First;
    mlir::ScopedDiagnosticHandler Handler(&Context, [&](mlir::Diagnostic &D) {
      if (First.empty())
        First = D.str();
      return mlir::success();
    });
    mlir::PassManager PM(&Context);
    // As in compiler/pipeline/GraphPipeline.cpp.
    PM.addPass(createInferShapes());
    PM.addPass(createResolveControlFlow());
    PM.addPass(createFoldConstants());
    PM.addPass(createSimplifyShapes());
    PM.addPass(createCanonicalizeGraph());
    PM.addPass(createInferShapes());
    if (mlir::failed(PM.run(*Module)))
      return malformedError(First.empty() ? "a pass failed" : First);
    return Status::success();
  }
  mlir::func::FuncOp main() {
    return Module->lookupSymbol<mlir::func::FuncOp>("main");
  }
  Evaluator evaluator() {
    return Evaluator(Budget(1 << 26, 1ll << 32),
                     [this](onnx::WeightDataOp W, std::vector<uint8_t> &Bytes) {
                       Bytes.resize(W.getLength());
                       return Store.read(static_cast<uint32_t>(W.getFile()),
                                         static_cast<uint64_t>(W.getOffset()),
                                         Bytes, W.getSymName().str());
                     });
  }
  /// All results of the graph for given arguments.
  Result<std::vector<Tensor>> run(const std::vector<Tensor> &Arguments) {
    mlir::func::FuncOp F = main();
    if (F.getNumArguments() > Arguments.size())
      return internalError("the graph takes " +
                           std::to_string(F.getNumArguments()) + " arguments");
    Evaluator E = evaluator();
    for (unsigned I = 0; I < F.getNumArguments(); ++I)
      E.bind(F.getArgument(I), Arguments[I]);
    std::vector<Tensor> Out;
    for (mlir::Value V : F.getBody().front().getTerminator()->getOperands()) {
      LLMC_ASSIGN_OR_RETURN(const Tensor *T, E.evaluate(V));
      Out.push_back(*T);
    }
    return Out;
  }
};

/// What the expected values of short floats leave open: they come from sums in
/// the type itself.
double leastTolerance(DType T) {
  return T == DType::BF16 ? 1.6e-2 : T == DType::F16 ? 2e-3 : 0;
}

std::string compare(const Tensor &Got, const Tensor &Wanted, double Relative) {
  if (describe(Got) != describe(Wanted))
    return "is " + describe(Got) + ", expected " + describe(Wanted);
  Relative = std::max(Relative, leastTolerance(Wanted.Type));
  bool Exact = !isFloat(Wanted.Type) || isSmallFloat(Wanted.Type);
  std::vector<double> A = load<double>(Got), B = load<double>(Wanted);
  for (size_t I = 0; I < A.size(); ++I) {
    bool Same = A[I] == B[I] || (std::isnan(A[I]) && std::isnan(B[I]));
    double Allowed = Exact ? 0
                           : std::max(1e-7, leastTolerance(Wanted.Type) / 2) +
                                 Relative * std::fabs(B[I]);
    if (!Same && !(std::fabs(A[I] - B[I]) <= Allowed)) {
      std::ostringstream Text;
      Text.precision(9);
      Text << "element " << I << " of " << describe(Wanted) << " is " << A[I]
           << ", expected " << B[I];
      return Text.str();
    }
  }
  return "";
}

/// Values of the symbols that the dims of the arguments name.
std::map<std::string, int64_t> symbolsOf(mlir::func::FuncOp F,
                                         const std::vector<Tensor> &Arguments) {
  std::map<std::string, int64_t> Out;
  for (unsigned I = 0; I < F.getNumArguments(); ++I)
    if (std::optional<DimList> Dims = dimsOfType(F.getArgument(I).getType()))
      for (size_t D = 0; D < Dims->size() && D < Arguments[I].Shape.size(); ++D)
        if (const Dim &E = (*Dims)[D])
          Out[E->str()] = Arguments[I].Shape[D];
  return Out;
}

/// Whether the derived type contradicts the real tensor.
std::string compareType(mlir::Type T, const Tensor &Real,
                        const std::map<std::string, int64_t> &Symbols) {
  std::optional<DimList> Dims = dimsOfType(T);
  if (dtypeOf(mlir::cast<mlir::TensorType>(T).getElementType()) != Real.Type)
    return "has another element type derived than " + describe(Real);
  if (!Dims)
    return "";
  if (Dims->size() != Real.Shape.size())
    return "has rank " + std::to_string(Dims->size()) + " derived, is " +
           describe(Real);
  for (size_t I = 0; I < Dims->size(); ++I) {
    if (!(*Dims)[I])
      continue;
    std::optional<int64_t> Value = (*Dims)[I]->evaluate(
        [&](std::string_view Name) -> std::optional<int64_t> {
          auto It = Symbols.find(std::string(Name));
          if (It == Symbols.end())
            return std::nullopt;
          return It->second;
        });
    if (Value && *Value != Real.Shape[I])
      return "has dim " + std::to_string(I) + " derived as " +
             (*Dims)[I]->str() + " = " + std::to_string(*Value) + ", is " +
             describe(Real);
  }
  return "";
}

/// Empty when the case passes in this form.
std::string runCase(const Case &C, const std::string &Folder,
                    const std::string &Form) {
  Graph Data, Model;
  if (Status S = Data.open(Folder + "/data.onnx"); !S.ok())
    return "data: " + S.message();
  Result<std::vector<Tensor>> Values = Data.run({});
  if (!Values)
    return "data: " + Values.status().message();
  auto Split = Values->begin() + C.Inputs;
  std::vector<Tensor> Inputs(Values->begin(), Split),
      Wanted(Split, Values->end());
  if (Status S = Model.open(Folder + "/" + Form + ".onnx"); !S.ok())
    return S.message() + (S.notes().empty() ? "" : "; " + S.notes().front());
  if (Status S = Model.simplify(); !S.ok())
    return S.message();
  Result<std::vector<Tensor>> Got = Model.run(Inputs);
  if (!Got)
    return Got.status().message();
  mlir::func::FuncOp F = Model.main();
  std::map<std::string, int64_t> Symbols = symbolsOf(F, Inputs);
  for (size_t I = 0; I < Wanted.size(); ++I) {
    std::string Output = "output " + std::to_string(I) + " ";
    if (std::string Why = compare((*Got)[I], Wanted[I], C.Tolerance);
        !Why.empty())
      return Output + Why;
    mlir::Type T = F.getResultTypes()[static_cast<unsigned>(I)];
    if (std::string Why = compareType(T, Wanted[I], Symbols); !Why.empty())
      return Output + Why;
  }
  return "";
}

} // namespace

int main(int Argc, char **Argv) {
  if (Argc < 3) {
    std::cerr << "usage: NodeSuite DIR SKIPPED [FORM]\n";
    return 2;
  }
  std::vector<Case> Cases = readCases(Argv[1]);
  std::vector<SkipRule> Rules = readSkipped(Argv[2]);
  bool Bad = Cases.empty();
  for (std::string Form : {"static", "dynamic", "constant"}) {
    if (Argc > 3 && Form != Argv[3])
      continue;
    int Passed = 0, Failed = 0, Skipped = 0;
    for (const Case &C : Cases) {
      SkipRule *Rule = nullptr;
      for (SkipRule &R : Rules)
        if (!Rule && R.matches(C.Name + "/" + Form))
          Rule = &R;
      if (Rule) {
        ++Rule->Used;
        ++Skipped;
        continue;
      }
      std::string Why =
          C.Inputs < 0 ? "its values are no numbers"
                       : runCase(C, std::string(Argv[1]) + "/" + C.Name, Form);
      ++(Why.empty() ? Passed : Failed);
      if (!Why.empty())
        std::cout << Form << " " << C.Name << ": " << Why << std::endl;
    }
    Bad |= Failed > 0;
    std::cout << Form << ": " << Passed << " passed, " << Failed << " failed, "
              << Skipped << " skipped\n";
  }
  return Bad;
}
