// Addresses are joined as RFC 3986 has it, as far as schemas use it.
#include "runtime/text/constraint/schema/References.h"

#include "runtime/base/Quote.h"

namespace llmc::constraint {

namespace {

std::string join(const std::string &Base, const std::string &Ref) {
  size_t Scheme = Ref.find(':');
  if (Ref.empty())
    return Base;
  if (Scheme != std::string::npos && Ref.find('/') > Scheme)
    return Ref;
  size_t Host = Base.find("://");
  size_t Path = Host == std::string::npos ? 0 : Base.find('/', Host + 3);
  if (Ref[0] == '/')
    return Base.substr(0, Path) + Ref;
  size_t Last = Base.rfind('/');
  if (Last == std::string::npos ||
      (Host != std::string::npos && Last < Host + 3))
    return Host == std::string::npos ? Ref : Base + "/" + Ref;
  return Base.substr(0, Last + 1) + Ref;
}

std::string unescaped(std::string_view Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '%' && I + 2 < Text.size() + 0 &&
        std::isxdigit(static_cast<unsigned char>(Text[I + 1])) &&
        std::isxdigit(static_cast<unsigned char>(Text[I + 2]))) {
      Out += static_cast<char>(
          std::stoi(std::string(Text.substr(I + 1, 2)), nullptr, 16));
      I += 2;
    } else {
      Out += Text[I];
    }
  }
  return Out;
}

/// Follows a JSON pointer (RFC 6901).
const JsonValue *follow(const JsonValue &From, const std::string &Pointer) {
  const JsonValue *At = &From;
  for (size_t I = 0; At != nullptr && I < Pointer.size();) {
    size_t End = std::min(Pointer.find('/', I + 1), Pointer.size());
    std::string Name;
    for (size_t J = I + 1; J < End; ++J)
      if (Pointer[J] == '~' && J + 1 < End)
        Name += Pointer[++J] == '1' ? '/' : '~';
      else
        Name += Pointer[J];
    if (At->What == JsonValue::Object) {
      At = At->find(Name);
    } else if (At->What == JsonValue::Array && !Name.empty() &&
               Name.size() < 10 &&
               Name.find_first_not_of("0123456789") == std::string::npos &&
               std::stoul(Name) < At->Items.size()) {
      At = &At->Items[std::stoul(Name)];
    } else {
      At = nullptr;
    }
    I = End;
  }
  return At;
}

} // namespace

References::References(const JsonValue &Document) : Root(Document) {
  Resources[""] = &Root;
  visit(Root, "");
}

void References::visit(const JsonValue &V, const std::string &Outer) {
  std::string Base = Outer;
  if (V.What == JsonValue::Object) {
    const JsonValue *Id = V.find("$id");
    if (Id && Id->What == JsonValue::String && Id->Text[0] != '#') {
      std::string Text = Id->Text.substr(0, Id->Text.find('#'));
      Base = join(Outer, Text);
      Resources.emplace(Base, &V);
    }
    const JsonValue *Anchor = V.find("$anchor");
    if (Anchor && Anchor->What == JsonValue::String)
      Anchors.emplace(Base + "#" + Anchor->Text, &V);
    if (Id && Id->What == JsonValue::String && Id->Text[0] == '#')
      Anchors.emplace(Base + Id->Text, &V); // as drafts 4 to 7 name places
  }
  Bases.emplace(&V, Base);
  for (const JsonValue &Item : V.Items)
    if (Item.What == JsonValue::Object || Item.What == JsonValue::Array)
      visit(Item, Base);
}

Result<const JsonValue *> References::resolve(const JsonValue &From,
                                              const std::string &Ref) const {
  size_t Hash = Ref.find('#');
  auto It = Bases.find(&From);
  std::string Base =
      join(It == Bases.end() ? "" : It->second, Ref.substr(0, Hash));
  auto Resource = Resources.find(Base);
  if (Resource == Resources.end())
    return unsupportedError("the reference " + quoted(Ref) +
                            " is to another document");
  std::string Fragment =
      Hash == std::string::npos ? "" : unescaped(Ref.substr(Hash + 1));
  const JsonValue *Found = nullptr;
  if (Fragment.empty()) {
    Found = Resource->second;
  } else if (Fragment[0] == '/') {
    Found = follow(*Resource->second, Fragment);
    if (Found == nullptr && Ref[0] == '#')
      Found = follow(Root, Fragment);
  } else if (auto A = Anchors.find(Base + "#" + Fragment); A != Anchors.end()) {
    Found = A->second;
  }
  if (Found == nullptr)
    return malformedError("the reference " + quoted(Ref) + " leads nowhere");
  return Found;
}

} // namespace llmc::constraint
