// What the sanitizer has found: one entry per kind and place, with a count.
#ifndef LLMC_TOOLS_CUDASIM_SANITIZE_FINDINGS_H
#define LLMC_TOOLS_CUDASIM_SANITIZE_FINDINGS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llmc::cudasim {

struct Finding {
  std::string Kind; ///< "shared-race"
  std::string Kernel;
  unsigned SourceLine = 0, Line = 0; ///< CUDA source (0: not known), PTX
  unsigned OtherLine = 0;            ///< PTX line of the other access, or 0
  std::string Text;                  ///< the whole line, of the first event
  uint64_t Count = 0;
};

/// Collects for the whole process. At exit the findings are summed up; if there
/// are any the process ends with code 86.
class Findings {
public:
  /// Prints the line of a new finding to standard error.
  void add(Finding F);
  const std::vector<Finding> &all() const { return List; }
  void clear();
  /// {"findings":[{"kind":…}],"executed":{"kernel":[PTX lines]}}
  std::string json() const;
  /// Flags by PTX line of a kernel: what has been executed. At least Lines.
  std::vector<uint8_t> &executed(const std::string &Kernel, size_t Lines);

private:
  std::map<std::string, std::vector<uint8_t>> Executed;
  std::map<std::string, size_t> Known;
  std::vector<Finding> List;
};
Findings &findings();

/// Reports at exit; called once, when the sanitizer is first used.
void reportFindingsAtExit();

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_SANITIZE_FINDINGS_H
