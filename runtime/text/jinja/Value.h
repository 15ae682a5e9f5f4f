// Values of the template language. Immutable except for namespaces, which the
// interpreter empties at the end, so that sharing is safe and no cycle stays;
// nesting is bounded, so that printing and destroying a value never recurse
// far.
#ifndef LLMC_RUNTIME_TEXT_JINJA_VALUE_H
#define LLMC_RUNTIME_TEXT_JINJA_VALUE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llmc::jinja {

/// Deepest nesting of lists and dicts, and largest number of parts that a
/// value may have when written out (shared parts count each time).
inline constexpr unsigned MaxValueDepth = 200;
inline constexpr uint64_t MaxValueWeight = 1 << 22;

struct Box {
  virtual ~Box() = default;
};
struct Object;

class Value {
public:
  enum class Kind : uint8_t {
    Undefined,
    None,
    Bool,
    Int,
    Float,
    String,
    List,
    Tuple,
    Dict,
    Object
  };
  using Items = std::vector<Value>;
  using Members = std::vector<std::pair<Value, Value>>;

  Value() = default; ///< undefined, without a reason
  /// What reading through it says: "'x' is undefined".
  static Value undefined(std::string Why);
  static Value none() { return Value(Kind::None); }
  static Value boolean(bool B);
  static Value integer(int64_t I);
  static Value real(double F);
  static Value string(std::string S);
  /// A text that counts as HTML: escaping leaves it alone.
  static Value markup(std::string S);
  static Value list(Items L, Kind K = Kind::List);
  static Value tuple(Items L) { return list(std::move(L), Kind::Tuple); }
  /// What groupby yields: a tuple with the fields grouper and list.
  static Value group(Value Key, Items L);
  /// Items that are handed out once, in turn ("generator").
  static Value iterator(Items L, std::string Name = "generator");
  /// Later members win over earlier ones of the same key.
  static Value dict(Members M);
  static Value object(std::shared_ptr<Object> O);

  Kind kind() const { return K; }
  bool isUndefined() const { return K == Kind::Undefined; }
  bool isNone() const { return K == Kind::None; }
  bool isString() const { return K == Kind::String; }
  bool isSequence() const { return K == Kind::List || K == Kind::Tuple; }
  bool isDict() const { return K == Kind::Dict; }
  bool isObject() const { return K == Kind::Object; }
  bool isMarkup() const { return K == Kind::String && Marked; }
  bool isGroup() const { return K == Kind::Tuple && Marked; }
  bool isInteger() const { return K == Kind::Int || K == Kind::Bool; }
  bool isNumber() const { return isInteger() || K == Kind::Float; }

  /// Bool counts as 0 or 1. Only for isInteger().
  int64_t asInteger() const { return I; }
  /// Only for isNumber().
  double asReal() const { return K == Kind::Float ? F : double(I); }
  const std::string &asString() const; ///< empty unless isString()
  const Items &items() const;          ///< empty unless isSequence()
  const Members &members() const;      ///< empty unless isDict()
  Object *asObject() const;            ///< null unless isObject()
  const std::string &why() const;      ///< of an undefined value

  /// Member of a dict by key; null when absent.
  const Value *find(const Value &Key) const;
  const Value *find(std::string_view Key) const {
    return find(string(std::string(Key)));
  }

  unsigned depth() const { return Depth; }
  /// Parts of the value written out; strings count by length. Work on the
  /// whole value is proportional to this.
  uint64_t weight() const { return Weight; }
  bool truthy() const;
  /// "str", "int", "dict" … as error messages name types.
  std::string_view typeName() const;

private:
  explicit Value(Kind K) : K(K) {}

  Kind K = Kind::Undefined;
  bool Marked = false; ///< see isMarkup, isGroup
  uint16_t Depth = 0;
  uint32_t Weight = 1;
  union {
    int64_t I = 0;
    double F;
  };
  std::shared_ptr<Box> P;
};

struct StringBox : Box {
  std::string Text;
};
struct ListBox : Box {
  Value::Items Items;
};
struct DictBox : Box {
  Value::Members Members;
  std::unordered_map<std::string, size_t> Index; ///< of larger dicts
};

struct Node;
struct Scope;

/// Things that are called or looked into: functions, macros, bound methods,
/// the loop variable, namespaces, iterators.
struct Object : Box {
  enum class Type : uint8_t {
    Iterator, ///< Items from Index on are left
    View,     ///< of a dict; as often as wanted
    Range,    ///< as View, but with an index
    Blocks,   ///< self: the blocks of the template
    Function,
    Method,
    Macro,
    Caller,
    Loop,
    Namespace,
    Cycler,
    Joiner
  };
  explicit Object(Type T) : What(T) {}
  Type What;
  std::string Name;           ///< of a function, method or macro
  Value Self;                 ///< of a method
  const Node *Body = nullptr; ///< of a macro, caller or recursive loop
  Scope *Home = nullptr;      ///< where it was defined
  std::vector<std::pair<std::string, Value>> Fields; ///< namespace, loop
  Value::Items Items; ///< what is iterated or cycled over
  size_t Index = 0;
  size_t Level = 0;     ///< of a recursive loop, from 0
  Value Last;           ///< loop.changed
  bool Escapes = false; ///< a macro: autoescape was on
};

/// Equality as in Python: 1 == 1.0 == True; lists and dicts by content.
bool equal(const Value &A, const Value &B);
/// Text of a value as printed ({{ x }}) and as inside a list.
std::string display(const Value &V);
std::string represent(const Value &V);
std::string realText(double F);
/// Python's repr of a text.
std::string quoted(std::string_view S);

/// Number of characters, and where each begins (plus the end).
size_t characterCount(std::string_view S);
std::vector<size_t> characterStarts(std::string_view S);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_VALUE_H
