// What a running template shares with the library of filters, tests and
// methods: the first error with its place, and the limits that keep a hostile
// template from hanging or filling the memory.
#ifndef LLMC_RUNTIME_TEXT_JINJA_CONTEXT_H
#define LLMC_RUNTIME_TEXT_JINJA_CONTEXT_H

#include "runtime/base/Status.h"
#include "runtime/text/jinja/Value.h"

#include <ctime>

namespace llmc::jinja {

/// Arguments of a call.
struct Arguments {
  Value::Items Positional;
  std::vector<std::pair<std::string, Value>> Named;

  /// By position or by name; null when absent.
  const Value *get(size_t Index, std::string_view Name) const {
    if (Index < Positional.size())
      return &Positional[Index];
    for (const auto &[N, V] : Named)
      if (N == Name)
        return &V;
    return nullptr;
  }
};

class Context {
public:
  static constexpr uint64_t MaxSteps = 20'000'000;
  static constexpr size_t MaxText = 16 << 20; ///< bytes of one string

  virtual ~Context() = default;

  /// Notes the first error, at the place that runs now; gives undefined.
  Value fail(const std::string &What);
  bool failed() const { return Failed; }
  const Status &failure() const { return Failure; }

  /// Counts work; false (and an error) when it gets too much.
  bool charge(uint64_t Steps);
  /// Before building a text of Bytes; false (and an error) when too long.
  bool room(uint64_t Bytes);

  virtual Value attribute(const Value &Of, const std::string &Name) = 0;
  virtual Value item(const Value &Of, const Value &Key) = 0;
  /// Elements to loop over: of a list, keys of a dict, characters, what an
  /// iterator has left (which is then used up).
  Value::Items iterate(const Value &V);
  /// Number of elements or characters; false (and an error) for the rest.
  bool lengthOf(const Value &V, size_t &N);
  /// Whether it can be a key; an error when not.
  bool hashable(const Value &V);
  /// a < b for numbers, texts and lists.
  bool less(const Value &A, const Value &B);

  /// A text that the template made: HTML where autoescape is on.
  Value made(std::string S) const {
    return AutoEscape ? Value::markup(std::move(S))
                      : Value::string(std::move(S));
  }

  std::tm Clock = {};      ///< what strftime_now shows
  bool AutoEscape = false; ///< inside {% autoescape true %}

protected:
  uint32_t Line = 1, Column = 1; ///< of the node that runs

private:
  bool Failed = false;
  Status Failure;
  uint64_t Steps = 0;
};

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_CONTEXT_H
