// Version 1.0 of the format: magic, header length, a Python dict, the data.
#include "tools/llmc-run/Npy.h"

#include "runtime/base/File.h"
#include "tools/llmc-run/Common.h"

namespace llmcrun {

void writeNpy(const std::string &Path, std::span<const float> Data,
              const std::vector<size_t> &Shape) {
  std::string Dims;
  for (size_t D : Shape)
    Dims += std::to_string(D) + ",";
  std::string Header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + Dims + "), }";
  // Magic, version and length are 10 bytes; all together a multiple of 64.
  Header.append(63 - (10 + Header.size()) % 64, ' ');
  Header += '\n';
  std::string Start("\x93NUMPY\x01\x00", 8);
  Start += static_cast<char>(Header.size() & 255);
  Start += static_cast<char>(Header.size() >> 8);
  Start += Header;
  llmc::AtomicFile F = check(llmc::AtomicFile::create(Path));
  check(F.writeAt(0, llmc::bytesOf(Start)));
  check(F.writeAt(Start.size(), {reinterpret_cast<const uint8_t *>(Data.data()),
                                 Data.size_bytes()}));
  check(F.commit());
}

} // namespace llmcrun
