// Status and Result<T>: how every room reports failure. No exceptions cross a
// room; a failure carries one line of text and the code that becomes the exit
// code of the programs (docs: "Exit codes" in the command line contract).
#ifndef LLMC_RUNTIME_BASE_STATUS_H
#define LLMC_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmc {

/// What kind of failure it is; the value is the exit code of the programs.
enum class StatusCode : int {
  Ok = 0,
  Internal = 1,     ///< a bug of ours
  Usage = 2,        ///< wrong flags or arguments
  Unsupported = 3,  ///< the model needs something that llmc does not have
  Malformed = 4,    ///< input damaged, unsafe or missing
  DoesNotFit = 5,   ///< budget, context, device
  Verification = 6, ///< a check of numerics or hashes failed
  Interrupted = 130 ///< stopped by the user
};

/// Success, or one failure. The message is one line: lower case, no final
/// period, naming the object and what was expected and found. Notes are
/// further lines, printed below it.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode C, std::string Message)
      : Code(C), Text(std::move(Message)) {}
  static Status success() { return {}; }

  bool ok() const { return Code == StatusCode::Ok; }
  StatusCode code() const { return Code; }
  const std::string &message() const { return Text; }
  const std::vector<std::string> &notes() const { return Notes; }
  Status &&note(std::string Line) && {
    Notes.push_back(std::move(Line));
    return std::move(*this);
  }
  void addNote(std::string Line) { Notes.push_back(std::move(Line)); }

private:
  StatusCode Code = StatusCode::Ok;
  std::string Text;
  std::vector<std::string> Notes;
};

inline Status internalError(std::string M) {
  return {StatusCode::Internal, std::move(M)};
}
inline Status usageError(std::string M) {
  return {StatusCode::Usage, std::move(M)};
}
inline Status unsupportedError(std::string M) {
  return {StatusCode::Unsupported, std::move(M)};
}
inline Status malformedError(std::string M) {
  return {StatusCode::Malformed, std::move(M)};
}
inline Status doesNotFitError(std::string M) {
  return {StatusCode::DoesNotFit, std::move(M)};
}
inline Status verificationError(std::string M) {
  return {StatusCode::Verification, std::move(M)};
}

/// A value or a failure.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T V) : Value(std::move(V)) {}
  Result(Status S) : Failure(std::move(S)) {
    assert(!Failure.ok() && "a Result without a value needs a failure");
  }
  bool ok() const { return Value.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return Failure; }
  Status takeStatus() { return std::move(Failure); }
  T &operator*() { return *Value; }
  const T &operator*() const { return *Value; }
  T *operator->() { return &*Value; }
  const T *operator->() const { return &*Value; }
  T take() { return std::move(*Value); }

private:
  std::optional<T> Value;
  Status Failure;
};

} // namespace llmc

/// Returns the failure of a Status expression from the enclosing function.
#define LLMC_RETURN_IF_ERROR(Expr)                                             \
  do {                                                                         \
    ::llmc::Status LlmcStatus_ = (Expr);                                       \
    if (!LlmcStatus_.ok())                                                     \
      return LlmcStatus_;                                                      \
  } while (false)

#define LLMC_CONCAT_IMPL_(A, B) A##B
#define LLMC_CONCAT_(A, B) LLMC_CONCAT_IMPL_(A, B)
/// LLMC_ASSIGN_OR_RETURN(Declaration, Expr): unwraps a Result or returns its
/// failure.
#define LLMC_ASSIGN_OR_RETURN(Decl, Expr)                                      \
  auto LLMC_CONCAT_(LlmcResult_, __LINE__) = (Expr);                           \
  if (!LLMC_CONCAT_(LlmcResult_, __LINE__).ok())                               \
    return LLMC_CONCAT_(LlmcResult_, __LINE__).takeStatus();                   \
  Decl = LLMC_CONCAT_(LlmcResult_, __LINE__).take()

#endif // LLMC_RUNTIME_BASE_STATUS_H
