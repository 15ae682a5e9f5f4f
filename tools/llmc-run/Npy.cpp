// Version 1.0 of the format: magic, header length, a Python dict, the data.
#include "tools/llmc-run/Npy.h"

#include "tools/llmc-run/Common.h"

namespace llmcrun {

NpyWriter::NpyWriter(std::string P, const std::vector<size_t> &Shape)
    : Path(std::move(P)), Missing(1) {
  std::string Dims;
  for (size_t D : Shape) {
    Dims += std::to_string(D) + ",";
    Missing *= D;
  }
  std::string Dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + Dims + "), }";
  // Magic, version and length are 10 bytes; all together a multiple of 64.
  Dict.append(63 - (10 + Dict.size()) % 64, ' ');
  Dict += '\n';
  Header = std::string("\x93NUMPY\x01\x00", 8);
  Header += static_cast<char>(Dict.size() & 255);
  Header += static_cast<char>(Dict.size() >> 8);
  Header += Dict;
}

llmc::Status NpyWriter::write(std::span<const float> Values) {
  if (Values.size() > Missing)
    return llmc::internalError(Path + ": expected " + std::to_string(Missing) +
                               " more values, found " +
                               std::to_string(Values.size()));
  if (At == 0) { // opened late: many may wait for their values
    LLMC_ASSIGN_OR_RETURN(File, llmc::AtomicFile::create(Path));
    LLMC_RETURN_IF_ERROR(File.writeAt(0, llmc::bytesOf(Header)));
    At = Header.size();
  }
  LLMC_RETURN_IF_ERROR(
      File.writeAt(At, {reinterpret_cast<const uint8_t *>(Values.data()),
                        Values.size_bytes()}));
  At += Values.size_bytes();
  Missing -= Values.size();
  return Missing == 0 ? File.commit() : llmc::Status::success();
}

void NpyWriter::add(std::span<const float> Values) {
  if (Failure.ok())
    Failure = write(Values);
}

void NpyWriter::finish() {
  check(Failure);
  if (Missing != 0)
    check(llmc::internalError(Path + ": " + std::to_string(Missing) +
                              " values are missing"));
}

} // namespace llmcrun
