// From a syntax tree to a term.
//
// Anchors: the text is thought of as standing between marks, bytes that no
// text has, any number of each: B..B text E..E. `^` takes one or more begin
// marks, `$` end marks; the term of the marked texts is built like any other,
// and then the marks are taken off: in front by derivatives, at the end by
// withoutEndMarks. So anchors work at any place and under any repetition.
#include "runtime/text/constraint/Regex.h"

#include <algorithm>
#include <map>

namespace llmc::constraint {

namespace {

constexpr uint8_t BeginMark = 0xFE, EndMark = 0xFF;

class Builder {
public:
  Builder(Terms &T, const Regex &R, const CharTerm &Chars)
      : T(T), R(R), Chars(Chars) {}

  TermId node(uint32_t I) {
    const RegexNode &N = R.Nodes[I];
    switch (N.What) {
    case RegexNode::Chars:
      return N.Set.empty() ? Nothing : Chars(N.Set);
    case RegexNode::Repeat:
      return T.repeat(node(N.Kids[0]), N.Min, N.Max);
    case RegexNode::Begin:
      return T.repeat(T.byte(BeginMark), 1, Unbounded);
    case RegexNode::End:
      return T.repeat(T.byte(EndMark), 1, Unbounded);
    case RegexNode::Concat:
    case RegexNode::Alternate: {
      std::vector<TermId> Parts;
      for (uint32_t Kid : N.Kids)
        Parts.push_back(node(Kid));
      return N.What == RegexNode::Concat ? T.seq(Parts) : T.alt(Parts);
    }
    }
    return Nothing;
  }

  TermId unmark(TermId Marked) {
    std::vector<TermId> List;
    for (TermId At = T.derive(Marked, BeginMark);
         std::find(List.begin(), List.end(), At) == List.end() &&
         List.size() < 4096;
         At = T.derive(At, BeginMark))
      List.push_back(At);
    return withoutEndMarks(T.alt(List));
  }

private:
  /// Parts of a sequence; a loop, since sequences may be very long.
  std::vector<TermId> spine(TermId Id) {
    std::vector<TermId> Parts;
    for (; T[Id].Kind == TermKind::Seq; Id = T[Id].B)
      Parts.push_back(T[Id].A);
    Parts.push_back(Id);
    return Parts;
  }

  /// Whether end marks alone are in the language.
  bool marksOnly(TermId Id) {
    const TermNode N = T[Id];
    switch (N.Kind) {
    case TermKind::Bytes:
      return T.byteSet(Id).has(EndMark);
    case TermKind::Seq:
      for (TermId Part : spine(Id))
        if (!marksOnly(Part))
          return false;
      return true;
    case TermKind::Repeat:
      return N.Min == 0 || marksOnly(N.A);
    case TermKind::Alt:
      for (uint32_t I = 0; I < N.B; ++I)
        if (marksOnly(T.kids(Id)[I]))
          return true;
      return false;
    default:
      return N.Nullable;
    }
  }

  /// The texts of the language that have no mark.
  TermId unmarked(TermId Id) {
    auto It = Clean.find(Id);
    if (It != Clean.end())
      return It->second;
    const TermNode N = T[Id];
    TermId To = Id;
    if (N.Kind == TermKind::Bytes) {
      To = T.bytes(T.byteSet(Id) & ByteSet::range(0, BeginMark - 1));
    } else if (N.Kind == TermKind::Seq) {
      std::vector<TermId> Parts = spine(Id);
      for (TermId &Part : Parts)
        Part = unmarked(Part);
      To = T.seq(Parts);
    } else if (N.Kind == TermKind::Repeat) {
      To = T.repeat(unmarked(N.A), N.Min, N.Max);
    } else if (N.Kind == TermKind::Alt) {
      std::vector<TermId> List;
      for (uint32_t I = 0; I < N.B; ++I)
        List.push_back(unmarked(T.kids(Id)[I]));
      To = T.alt(List);
    }
    Clean.emplace(Id, To);
    return To;
  }

  /// What is before the end marks, of the texts that have marks at the end
  /// only (or none).
  TermId withoutEndMarks(TermId Id) {
    auto It = Cut.find(Id);
    if (It != Cut.end())
      return It->second;
    const TermNode N = T[Id];
    TermId To = Id;
    if (N.Kind == TermKind::Bytes) {
      To = T.alt(unmarked(Id), T.byteSet(Id).has(EndMark) ? Epsilon : Nothing);
    } else if (N.Kind == TermKind::Seq) {
      // From the right: what is behind may be text, or marks only.
      std::vector<TermId> Parts = spine(Id);
      To = withoutEndMarks(Parts.back());
      bool Rest = marksOnly(Parts.back());
      for (size_t I = Parts.size() - 1; I-- > 0;) {
        To = T.seq(unmarked(Parts[I]), To);
        if (Rest)
          To = T.alt(To, withoutEndMarks(Parts[I]));
        Rest = Rest && marksOnly(Parts[I]);
      }
    } else if (N.Kind == TermKind::Repeat) {
      bool Rest = marksOnly(N.A); // what is missing may be marks
      uint32_t Max = N.Max == Unbounded ? Unbounded : N.Max - 1;
      To = T.seq(
          T.repeat(unmarked(N.A), Rest || N.Min == 0 ? 0 : N.Min - 1, Max),
          withoutEndMarks(N.A));
      To = T.alt(To, N.Min == 0 ? Epsilon : Nothing);
    } else if (N.Kind == TermKind::Alt) {
      std::vector<TermId> List;
      for (uint32_t I = 0; I < N.B; ++I)
        List.push_back(withoutEndMarks(T.kids(Id)[I]));
      To = T.alt(List);
    }
    Cut.emplace(Id, To);
    return To;
  }

  Terms &T;
  const Regex &R;
  const CharTerm &Chars;
  std::map<TermId, TermId> Clean, Cut;
};

} // namespace

TermId fullMatch(Terms &T, const Regex &R, const CharTerm &Chars) {
  Builder B(T, R, Chars);
  TermId P = B.node(R.Root);
  if (!R.HasAnchors)
    return P;
  return B.unmark(T.seq(T.repeat(T.byte(BeginMark), 0, Unbounded),
                        T.seq(P, T.repeat(T.byte(EndMark), 0, Unbounded))));
}

TermId searchMatch(Terms &T, const Regex &R, const CharTerm &Chars) {
  Builder B(T, R, Chars);
  TermId P = B.node(R.Root);
  TermId Any = T.repeat(Chars(CharSet::all()), 0, Unbounded);
  if (!R.HasAnchors)
    return T.seq(Any, T.seq(P, Any));
  TermId Before =
      T.optional(T.seq(T.repeat(T.byte(BeginMark), 1, Unbounded), Any));
  TermId Behind =
      T.optional(T.seq(Any, T.repeat(T.byte(EndMark), 1, Unbounded)));
  return B.unmark(T.seq(Before, T.seq(P, Behind)));
}

} // namespace llmc::constraint
