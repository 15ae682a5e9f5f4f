// Times a tokenizer: compiling its files, loading the compiled form, encoding
// and decoding a text, on one thread, best of the
// runs, in processor time. Prints one JSON object.
// Usage: text-bench FOLDER_OR_FILE TEXT_FILE [RUNS]
#include "runtime/base/File.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/TokenizerCompiler.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using namespace llmc;

namespace {

/// Milliseconds of processor time, which a busy machine does not stretch.
double now() {
  return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Least milliseconds of Runs calls.
template <typename F> double best(int Runs, F Call) {
  double Least = 1e300;
  for (int I = 0; I < Runs; ++I) {
    double Begin = now();
    Call();
    Least = std::min(Least, now() - Begin);
  }
  return Least;
}

template <typename T> T need(Result<T> R) {
  if (R.ok())
    return R.take();
  std::fprintf(stderr, "text-bench: %s\n", R.status().message().c_str());
  std::exit(1);
}

} // namespace

int main(int Argc, char **Argv) {
  if (Argc < 3) {
    std::fprintf(stderr, "usage: text-bench FOLDER_OR_FILE TEXT [RUNS]\n");
    return 2;
  }
  int Runs = Argc > 3 ? std::max(1, std::atoi(Argv[3])) : 5;
  std::vector<uint8_t> Image;
  double Compile = best(1, [&] { Image = need(compileTokenizer(Argv[1])); });
  double Load = best(Runs, [&] { (void)need(Tokenizer::load(Image)); });
  double Borrow = best(Runs, [&] { (void)need(Tokenizer::borrow(Image)); });
  Tokenizer T = need(Tokenizer::load(Image));
  std::vector<uint8_t> Raw = need(readFile(Argv[2], 1u << 30));
  std::string_view Text(reinterpret_cast<const char *>(Raw.data()), Raw.size());
  std::vector<int32_t> Ids;
  double Encode = best(Runs, [&] { Ids = need(T.encode(Text)); });
  double Decode = best(Runs, [&] { (void)T.decode(Ids); });
  double Bytes = static_cast<double>(Text.size());
  std::printf("{\"compile_ms\": %.1f, \"image_bytes\": %zu, \"load_ms\": %.2f, "
              "\"borrow_ms\": %.2f, "
              "\"ids\": %zu, \"encode_mb_s\": %.1f, \"decode_mb_s\": %.1f}\n",
              Compile, Image.size(), Load, Borrow, Ids.size(),
              Bytes / Encode / 1e3, Bytes / Decode / 1e3);
  return 0;
}
