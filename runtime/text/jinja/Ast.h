// The tree of a template: one kind of node for expressions and statements.
#ifndef LLMC_RUNTIME_TEXT_JINJA_AST_H
#define LLMC_RUNTIME_TEXT_JINJA_AST_H

#include "runtime/text/jinja/Value.h"

namespace llmc::jinja {

struct Node;
using NodePtr = std::unique_ptr<Node>;

struct Node {
  enum class Kind : uint8_t {
    // Expressions
    Constant,    ///< Literal
    Name,        ///< Text
    List,        ///< Children
    Tuple,       ///< Children
    Dict,        ///< Children: key, value, key, value …
    Not,         ///< one child
    Negative,    ///< one child
    Positive,    ///< one child
    Binary,      ///< Text: operator; two children
    Compare,     ///< first operand; Named: operator and operand …
    And,         ///< two children
    Or,          ///< two children
    Conditional, ///< value, condition, else (may be null)
    Attribute,   ///< one child, Text: name
    Item,        ///< two children
    Slice,       ///< object, begin, end, step (may be null)
    Call,        ///< callee, positional …; Named: keywords
    Filter,      ///< Text; input (null in a block), positional …; Named
    Test,        ///< Text; input, positional …; Named
    // Statements
    Output,      ///< Children: expressions; Text before them
    Sequence,    ///< Children: statements
    If,          ///< condition, then, condition, then …, else
    For,         ///< target, iterable, condition (null), body, else (null);
                 ///< Text: "recursive" or empty
    Set,         ///< target, value
    SetBlock,    ///< target, filter (null), body
    Macro,       ///< Text: name; Named: parameters and defaults; body
    CallBlock,   ///< call, body; Named: parameters
    FilterBlock, ///< filter, body
    With,        ///< body; Named: names and values
    Block,       ///< Text: name; Literal: true when scoped; body
    AutoEscape,  ///< condition, body
    Do,          ///< expression whose value is dropped
    Break,
    Continue
  };
  Node(Kind K, uint32_t Line, uint32_t Column)
      : What(K), Line(Line), Column(Column) {}

  Kind What;
  uint32_t Line, Column;
  std::string Text;
  Value Literal;
  std::vector<NodePtr> Children;
  std::vector<std::pair<std::string, NodePtr>> Named;
};

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_AST_H
