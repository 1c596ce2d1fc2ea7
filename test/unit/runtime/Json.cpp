// SPDX-License-Identifier: Apache-2.0
#include "Json.h"

namespace gc3::test {

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : rest(text) {}

  bool parseAll(Json &value) {
    const bool good = parse(value);
    skipSpace();
    return good && rest.empty();
  }

private:
  void skipSpace() {
    while (!rest.empty() && std::string_view(" \t\r\n").find(rest[0]) != std::string_view::npos)
      rest.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skipSpace();
    const bool is = rest.starts_with(token);
    rest.remove_prefix(is ? token.size() : 0);
    return is;
  }
  size_t digits() {
    size_t count = 0;
    while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9')
      rest.remove_prefix(1), ++count;
    return count;
  }

  bool parse(Json &value) {
    skipSpace();
    if (take("{"))
      return parseObject(value);
    if (take("["))
      return parseArray(value);
    if (rest.starts_with('"')) {
      value.kind = Json::Kind::String;
      return parseString(value.text);
    }
    for (const char *word : {"true", "false", "null"})
      if (take(word)) {
        value.kind = word[0] == 'n' ? Json::Kind::Null : Json::Kind::Boolean;
        value.text = word;
        return true;
      }
    return parseNumber(value);
  }

  bool parseNumber(Json &value) {
    const std::string_view before = rest;
    value.kind = Json::Kind::Number;
    if (rest.starts_with('-'))
      rest.remove_prefix(1);
    const bool zero = rest.starts_with('0');
    const size_t whole = digits();
    if (whole == 0 || (zero && whole > 1))
      return false;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      if (digits() == 0)
        return false;
    }
    value.text = before.substr(0, before.size() - rest.size());
    return true;
  }

  bool parseString(std::string &text) {
    if (!take("\""))
      return false;
    while (!rest.empty()) {
      const char c = rest[0];
      rest.remove_prefix(1);
      if (c == '"')
        return true;
      if (static_cast<unsigned char>(c) < 0x20)
        return false;
      text += c;
      if (c == '\\' && !parseEscape(text))
        return false;
    }
    return false;
  }
  /// Parses an escape sequence after its backslash. Decodes escaped quotes, backslashes and slashes. Keeps other
  /// sequences unchanged.
  bool parseEscape(std::string &text) {
    if (rest.empty())
      return false;
    const char c = rest[0];
    if (c == '"' || c == '\\' || c == '/')
      text.back() = c;
    else if (c != 'u' || rest.substr(1, 4).find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      return std::string_view("bfnrt").find(c) != std::string_view::npos;
    rest.remove_prefix(1);
    return true;
  }

  bool parseArray(Json &value) {
    value.kind = Json::Kind::Array;
    if (take("]"))
      return true;
    do {
      if (!parse(value.items.emplace_back()))
        return false;
    } while (take(","));
    return take("]");
  }

  bool parseObject(Json &value) {
    value.kind = Json::Kind::Object;
    if (take("}"))
      return true;
    do {
      if (!parseString(value.keys.emplace_back()) || !take(":") || !parse(value.items.emplace_back()))
        return false;
    } while (take(","));
    return take("}");
  }

  std::string_view rest;
};

} // namespace

const Json *Json::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &items[i];
  return nullptr;
}

std::optional<Json> parseJson(std::string_view text) {
  Json value;
  return Parser(text).parseAll(value) ? std::optional(std::move(value)) : std::nullopt;
}

} // namespace gc3::test
