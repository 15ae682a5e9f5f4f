// Chooses the reader of a folder's tokenizer, or of a file by its name.
#include "runtime/text/TokenizerFiles.h"

#include "runtime/base/File.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/TokenizerCompiler.h"
#include "runtime/text/TokenizerParts.h"

#include <algorithm>
#include <filesystem>

namespace llmc {

namespace {

namespace fs = std::filesystem;
constexpr uint64_t MaxFileBytes = 256u << 20;

Result<std::vector<uint8_t>> finish(Result<TokenizerSource> S,
                                    const std::string &Name) {
  if (!S.ok())
    return S.status();
  Result<std::vector<uint8_t>> Bytes = finishTokenizer(S.take());
  if (!Bytes.ok())
    return Status(Bytes.status().code(),
                  Name + ": " + Bytes.status().message());
  return Bytes;
}

Result<std::vector<uint8_t>> compileModelFile(const fs::path &Path,
                                              const TokenizerFolder &F) {
  LLMC_ASSIGN_OR_RETURN(std::vector<uint8_t> Raw,
                        readFile(Path.string(), MaxFileBytes));
  std::string Name = Path.filename().string();
  std::string_view Text(reinterpret_cast<const char *>(Raw.data()), Raw.size());
  if (Path.extension() == ".tiktoken" || looksLikeTiktoken(Text))
    return finish(readTiktoken(Text, F, Name), Name);
  return finish(readSentencePiece(Text, F, Name), Name);
}

/// Files of the folder with this ending, in order of their names.
std::vector<fs::path> filesWith(const fs::path &Folder, const char *Ending) {
  std::vector<fs::path> Found;
  std::error_code Error;
  for (fs::directory_iterator It(Folder, Error), End; !Error && It != End;
       It.increment(Error))
    if (It->path().extension() == Ending)
      Found.push_back(It->path());
  std::sort(Found.begin(), Found.end());
  return Found;
}

} // namespace

Result<std::vector<uint8_t>> compileOtherTokenizer(const std::string &Given) {
  fs::path Path(Given);
  std::error_code Error;
  bool IsFolder = fs::is_directory(Path, Error);
  fs::path Folder = IsFolder ? Path : Path.parent_path();
  if (Folder.empty())
    Folder = ".";
  if (!IsFolder &&
      (!fs::exists(Path, Error) ||
       (Path.extension() != ".model" && Path.extension() != ".tiktoken" &&
        Path.filename() != "vocab.json" && Path.filename() != "vocab.txt")))
    return std::vector<uint8_t>();
  LLMC_ASSIGN_OR_RETURN(TokenizerFolder F,
                        readTokenizerFolder(Folder.string()));
  std::vector<fs::path> Models;
  if (!IsFolder) {
    if (Path.extension() == ".model" || Path.extension() == ".tiktoken")
      Models.push_back(Path);
  } else {
    for (const char *Name :
         {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
      if (fs::exists(Folder / Name, Error))
        Models.push_back(Folder / Name);
    for (const char *Ending : {".tiktoken", ".model"})
      for (const fs::path &P : filesWith(Folder, Ending))
        Models.push_back(P);
  }
  if (!Models.empty())
    return compileModelFile(Models.front(), F);
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Vocab,
                        readTextFile(Folder.string(), "vocab.json"));
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Merges,
                        readTextFile(Folder.string(), "merges.txt"));
  if (Vocab && Merges) {
    LLMC_ASSIGN_OR_RETURN(std::string Json,
                          jsonOfVocabAndMerges(*Vocab, *Merges, F));
    return compileTokenizerJson(Json);
  }
  LLMC_ASSIGN_OR_RETURN(std::optional<std::string> Words,
                        readTextFile(Folder.string(), "vocab.txt"));
  if (!Words)
    return std::vector<uint8_t>();
  LLMC_ASSIGN_OR_RETURN(std::string Json, jsonOfVocabText(*Words, F));
  return compileTokenizerJson(Json);
}

} // namespace llmc
