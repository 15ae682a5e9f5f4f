// The conformance suite of devices: what every implementation of Device.h must
// do, whatever it runs on. Tests are written once (Conformance.cpp) and
// instantiated per device by the program that can make code for it
// (test/runtime/device-cts).
#ifndef LLMC_RUNTIME_DEVICE_CTS_CONFORMANCE_H
#define LLMC_RUNTIME_DEVICE_CTS_CONFORMANCE_H

#include "runtime/device/Device.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace llmc::cts {

/// A program for the device: a decoder whose step takes at least 64 tokens and
/// 3 sequences, with at least 150 positions of context.
struct TestProgram {
  ProgramView View;
  std::shared_ptr<void> Owner; ///< of the bytes that View borrows
  /// Logits of every token of a sequence, in double precision.
  std::function<std::vector<std::vector<double>>(const std::vector<int32_t> &)>
      Reference;
  double Tolerance = 0; ///< of a logit against the reference
};

struct DeviceCase {
  std::string Name; ///< of the test
  /// DoesNotFit: there is no such device here; the tests are skipped with the
  /// reason.
  std::function<Result<std::unique_ptr<Device>>()> Open;
  std::function<Result<TestProgram>()> Program;
};

/// gtest prints the parameter of a failed test.
inline void PrintTo(const DeviceCase &C, std::ostream *Out) { *Out << C.Name; }

/// One sequence of a caller: its tokens and pages.
struct Sequence {
  std::vector<int32_t> Tokens;
  std::vector<uint32_t> Pages;
  int32_t Length = 0; ///< positions already in the cache
};

class DeviceConformance : public testing::TestWithParam<DeviceCase> {
protected:
  void SetUp() override;
  std::unique_ptr<Executable> load(const DeviceLoadOptions &O = {});
  /// Count pseudo-random tokens on pages First, First + Stride, … .
  Sequence make(uint32_t Seed, int32_t Count, uint32_t First = 0,
                uint32_t Stride = 1) const;

  /// What one sequence gives to a step.
  struct Part {
    Sequence *Seq;
    int32_t Count;
    bool Prompt;
    bool AllLogits = false; ///< else of the last row
  };
  /// Runs one step (prompt parts first) and yields the logits of each part's
  /// rows.
  std::vector<std::vector<float>> step(Executable &E, std::vector<Part> Parts);
  /// The same without a check of the status.
  Status tryStep(Executable &E, std::vector<Part> Parts,
                 std::vector<std::vector<float>> &Logits);
  /// Prefill of all but the last Generated tokens in chunks of Chunk, then the
  /// rest one by one; the logits of every step's last row.
  std::vector<std::vector<float>> run(Executable &E, Sequence &S, int32_t Chunk,
                                      int32_t Generated);

  std::unique_ptr<Device> Dev;
  TestProgram Program;
};

} // namespace llmc::cts

#endif // LLMC_RUNTIME_DEVICE_CTS_CONFORMANCE_H
