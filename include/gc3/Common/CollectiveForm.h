// SPDX-License-Identifier: Apache-2.0
// The form of a collective: its name, with or without arguments. Compiler, bundles, calls and lists use this text:
// `shift`, `shift(4, 1)`, `shift(n = 4, by = 1)`.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc3::common {

/// Returns the position of the first `mark` outside of brackets and strings, or npos.
constexpr size_t findOutside(std::string_view text, char mark) {
  size_t depth = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!isQuoted && depth == 0 && c == mark)
      return i;
    if (c == '"')
      isQuoted = !isQuoted;
    else if (isQuoted)
      i += c == '\\';
    else if (c == '(' || c == '[')
      ++depth;
    else if ((c == ')' || c == ']') && depth != 0)
      --depth;
  }
  return std::string_view::npos;
}

/// Returns the text without blanks outside of strings. So equal values have equal texts.
inline std::string withoutBlanks(std::string_view text) {
  std::string result;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      isQuoted = !isQuoted;
    else if (isQuoted && text[i] == '\\' && i + 1 < text.size())
      result += text[i++];
    else if (!isQuoted && text[i] == ' ')
      continue;
    result += text[i];
  }
  return result;
}

/// Returns the text without blanks at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// An argument of a collective.
struct Argument {
  std::string name;  ///< empty: given by position
  std::string value; ///< without blanks outside of strings
};

/// A form as parts.
struct CollectiveForm {
  std::string name;
  std::vector<Argument> arguments;

  /// Returns nothing if the text is no form. Arguments by position must precede arguments by name, and a name can occur
  /// only once.
  static std::optional<CollectiveForm> parse(std::string_view text) {
    const size_t open = text.find('(');
    CollectiveForm form{std::string(trimmed(text.substr(0, open))), {}};
    if (open == text.npos)
      return form;
    std::string_view rest = text.substr(open + 1);
    const size_t close = findOutside(rest, ')');
    if (close == rest.npos || !trimmed(rest.substr(close + 1)).empty())
      return std::nullopt;
    rest = trimmed(rest.substr(0, close));
    while (!rest.empty()) {
      const size_t comma = findOutside(rest, ',');
      if (!form.add(rest.substr(0, comma)))
        return std::nullopt;
      if (comma == rest.npos)
        return form;
      rest.remove_prefix(comma + 1);
      if (trimmed(rest).empty())
        return std::nullopt; // a comma ends the list
    }
    return form;
  }

  /// Returns whether this form names the collective whose form with all arguments is `whole`. It does if the names are
  /// equal, and all arguments of this form are equal to those of `whole`.
  bool names(const CollectiveForm &whole) const {
    if (name != whole.name || arguments.size() > whole.arguments.size())
      return false;
    auto remaining = whole.arguments.begin(); // the arguments after those that are given by position
    for (const Argument &given : arguments) {
      auto fits = [&](const Argument &own) { return own.name == given.name && own.value == given.value; };
      if (given.name.empty() ? given.value != remaining++->value : std::none_of(remaining, whole.arguments.end(), fits))
        return false;
    }
    return true;
  }

  /// Returns whether each argument has a name, which is a word, and a value of printable ASCII. Compilers store only
  /// such forms.
  bool isWhole() const {
    auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    auto isPart = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); };
    return std::all_of(arguments.begin(), arguments.end(), [&](const Argument &argument) {
      const std::string &word = argument.name, &value = argument.value;
      return !word.empty() && isLetter(word[0]) && std::all_of(word.begin(), word.end(), isPart) &&
             std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
    });
  }

  /// Returns the form as text, such as `shift(n = 4, by = 1)`.
  std::string text() const { return arguments.empty() ? name : name + "(" + argumentsText() + ")"; }
  /// Returns the text between the parentheses.
  std::string argumentsText() const {
    std::string list;
    for (const Argument &argument : arguments)
      list += (list.empty() ? "" : ", ") + (argument.name.empty() ? "" : argument.name + " = ") + argument.value;
    return list;
  }

private:
  bool add(std::string_view text) {
    const size_t equals = findOutside(text, '=');
    const bool isNamed = equals != text.npos;
    Argument argument{std::string(isNamed ? trimmed(text.substr(0, equals)) : std::string_view()),
                      withoutBlanks(isNamed ? text.substr(equals + 1) : text)};
    const bool isLate = !isNamed && !arguments.empty() && !arguments.back().name.empty();
    auto isSame = [&](const Argument &earlier) { return isNamed && earlier.name == argument.name; };
    if (argument.value.empty() || (isNamed && argument.name.empty()) || isLate ||
        std::any_of(arguments.begin(), arguments.end(), isSame))
      return false;
    arguments.push_back(std::move(argument));
    return true;
  }
};

} // namespace gc3::common
