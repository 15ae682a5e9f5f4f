// The formats of JSON Schema as regular expressions, each a subset of what its
// standard allows: everything that matches is valid.
#include "runtime/text/constraint/schema/Strings.h"

#include <iterator>

namespace llmc::constraint {

namespace {

/// RFC 3339, with the days that each month of each year has.
std::string date() {
  const std::string Year = "(000[1-9]|00[1-9]\\d|0[1-9]\\d{2}|[1-9]\\d{3})";
  const std::string Leap = "(\\d{2}(0[48]|[2468][048]|[13579][26])|"
                           "(0[48]|[2468][048]|[13579][26])00)";
  return "(" + Year + "-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|" +
         "(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))|" + Leap +
         "-02-29)";
}

std::string time() {
  return "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?"
         "(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)";
}

/// RFC 3339, appendix A.
std::string duration() {
  const std::string Time = "T(\\d+H(\\d+M(\\d+S)?)?|\\d+M(\\d+S)?|\\d+S)";
  const std::string Date = "(\\d+Y(\\d+M(\\d+D)?)?|\\d+M(\\d+D)?|\\d+D)";
  return "P(\\d+W|" + Date + "(" + Time + ")?|" + Time + ")";
}

std::string ipv4() {
  const std::string Part = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
  return Part + "(\\." + Part + "){3}";
}

/// RFC 4291, section 2.2.
std::string ipv6() {
  const std::string H = "[0-9a-fA-F]{1,4}";
  const std::string Last = "(" + H + ":" + H + "|" + ipv4() + ")";
  std::string Out = "((" + H + ":){6}" + Last;
  for (int Left = 0; Left <= 5; ++Left) { // groups before the gap, at most
    std::string Before =
        Left == 0
            ? ""
            : "((" + H + ":){0," + std::to_string(Left - 1) + "}" + H + ")?";
    int After = 5 - Left;
    Out += "|" + Before + "::";
    Out += After == 0 ? Last
                      : "(" + H + ":){" + std::to_string(After) + "}" + Last;
  }
  Out += "|((" + H + ":){0,5}" + H + ")?::" + H;
  Out += "|((" + H + ":){0,6}" + H + ")?::";
  return Out + ")";
}

/// RFC 5321 without quoted local parts.
std::string email(const std::string &More) {
  const std::string Atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~" + More + "-]+";
  const std::string Label = "[A-Za-z0-9" + More + "]([A-Za-z0-9" + More +
                            "-]{0,61}[A-Za-z0-9" + More + "])?";
  return Atom + "(\\." + Atom + ")*@" + Label + "(\\." + Label + ")*";
}

std::string hostname() {
  const std::string Label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
  return Label + "(\\." + Label + ")*";
}

/// RFC 3986, appendix A; RFC 3987 with More characters.
std::string uri(bool Relative, const std::string &More) {
  const std::string Sub = "!$&'()*+,;=";
  const std::string Free = "A-Za-z0-9._~" + More + "-";
  const std::string Percent = "%[0-9A-Fa-f]{2}";
  const std::string Char = "([:@" + Sub + Free + "]|" + Percent + ")";
  const std::string NoColon = "([@" + Sub + Free + "]|" + Percent + ")";
  const std::string Host =
      "(\\[" + ipv6() + "\\]|([" + Sub + Free + "]|" + Percent + ")*)";
  const std::string User = "(([:" + Sub + Free + "]|" + Percent + ")*@)?";
  const std::string Authority =
      "//" + User + Host + "(:\\d*)?(/" + Char + "*)*";
  const std::string Absolute = "/(" + Char + "+(/" + Char + "*)*)?";
  const std::string Tail = "(\\?([/?]|" + Char + ")*)?(#([/?]|" + Char + ")*)?";
  std::string Out = "[A-Za-z][A-Za-z0-9+.-]*:(" + Authority + "|" + Absolute +
                    "|" + Char + "+(/" + Char + "*)*|)" + Tail;
  if (Relative)
    Out = "(" + Out + "|(" + Authority + "|" + Absolute + "|" + NoColon +
          "+(/" + Char + "*)*|)" + Tail + ")";
  return Out;
}

} // namespace

bool isNoteFormat(std::string_view Name) {
  // Of OpenAPI: what numbers to use, how to show a text.
  static constexpr std::string_view Notes[] = {"password", "binary", "float",
                                               "double",   "int32",  "int64"};
  for (std::string_view N : Notes)
    if (N == Name)
      return true;
  return false;
}

std::string formatPattern(std::string_view Name) {
  const std::string Uni = "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}"
                          "\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}";
  struct Named {
    std::string_view Name;
    std::string Pattern;
  };
  const std::string Hex = "[0-9a-fA-F]";
  const std::string Pointer = "(/([^~/]|~[01])*)*";
  const Named All[] = {
      {"date", date()},
      {"time", time()},
      {"date-time", date() + "T" + time()},
      {"duration", duration()},
      {"ipv4", ipv4()},
      {"ipv6", ipv6()},
      {"email", email("")},
      {"idn-email", email(Uni)},
      {"hostname", hostname()},
      {"uuid", Hex + "{8}-" + Hex + "{4}-" + Hex + "{4}-" + Hex + "{4}-" + Hex +
                   "{12}"},
      {"uri", uri(false, "")},
      {"uri-reference", uri(true, "")},
      {"iri", uri(false, Uni)},
      {"iri-reference", uri(true, Uni)},
      {"json-pointer", Pointer},
      {"relative-json-pointer", "(0|[1-9]\\d*)(#|" + Pointer + ")"},
      {"byte", "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|"
               "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"},
  };
  for (const Named &N : All)
    if (N.Name == Name)
      return N.Pattern;
  return "";
}

} // namespace llmc::constraint
