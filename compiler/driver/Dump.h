// Files that --dump-phases and --dump-kernels leave behind.
#ifndef LLMC_COMPILER_DRIVER_DUMP_H
#define LLMC_COMPILER_DRIVER_DUMP_H

#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace llmc {

/// Writes Text to Folder/Name and makes the folder where it is missing. Flag is
/// who asks, for the error (Malformed) that names the folder.
Status writeDump(std::string_view Flag, const std::string &Folder,
                 const std::string &Name, std::string_view Text);

} // namespace llmc

#endif // LLMC_COMPILER_DRIVER_DUMP_H
