// SPDX-License-Identifier: Apache-2.0
// Reads the text of PTX. A statement ends with a semicolon. Braces around statements open a scope, in which declared
// registers hide others. Braces and parentheses around operands only group them, so the operands form one list.
#include "Module.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

namespace gc3::ptx {

namespace {

using std::string_view;

/// The parts of a text between separators.
std::vector<string_view> split(string_view text, string_view separators) {
  std::vector<string_view> parts;
  for (size_t at = text.find_first_not_of(separators); at < text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return parts;
}

constexpr string_view blanks = " \t\r\n";

std::optional<uint8_t> bytesOfType(string_view type) {
  static const std::map<string_view, uint8_t> known{{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}};
  if (type.empty() || string_view("busf").find(type[0]) == string_view::npos)
    return std::nullopt;
  const auto bits = known.find(type.substr(1));
  return bits == known.end() ? std::nullopt : std::optional(bits->second);
}

class Parser {
public:
  Parser(std::string path, const std::string &text) : text(text) {
    module.path = std::move(path);
    for (size_t next = 0; next < text.size();) {
      const size_t end = std::min(text.find('\n', next), text.size());
      const size_t begin = std::min(text.find_first_not_of(blanks, next), end);
      module.lines.push_back(text.substr(begin, end - begin));
      next = end + 1;
    }
  }

  Module run() {
    while (skipBlanks(), at < text.size())
      readGlobal();
    return std::move(module);
  }

private:
  /// While a kernel is read, numbers of constants have this bit, and registers count from 0.
  static constexpr uint32_t isConstant = 1u << 31, isSpecial = 1u << 30;
  using Names = std::map<std::string, uint32_t, std::less<>>;

  [[noreturn]] void fail(const std::string &what) const {
    throw Fault(module.path + ":" + std::to_string(statementLine) + ": " + module.lines[statementLine - 1] + ": " +
                what);
  }

  void skipBlanks() {
    for (; at < text.size(); ++at)
      if (text.compare(at, 2, "//") == 0)
        skipLine();
      else if (std::isspace(static_cast<unsigned char>(text[at])) == 0)
        break;
      else
        line += text[at] == '\n';
    statementLine = line;
  }
  void skipLine() { at = std::min(text.find('\n', at), text.size()) - 1; }

  /// Returns the text up to one of `ends`, without comments.
  string_view readUntil(string_view ends) {
    const size_t begin = at;
    at = text.find_first_of(ends, at);
    if (at == std::string::npos)
      fail("the text ends here");
    line += static_cast<uint32_t>(
        std::count(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
    return string_view(text).substr(begin, at - begin);
  }

  /// Reads a directive for the whole text, a kernel, or the body of another function, which no thread executes.
  void readGlobal() {
    for (const char *directive : {".version", ".target", ".address_size", ".file"})
      if (text.compare(at, std::strlen(directive), directive) == 0) {
        skipLine(), ++at;
        return;
      }
    const string_view head = readUntil("{;");
    if (text[at] == '{' && head.find(".entry") != string_view::npos)
      readKernel(head);
    else if (text[at] == '{')
      skipBody();
    else
      ++at;
  }

  void skipBody() {
    for (uint32_t depth = 0;;) {
      readUntil("{}");
      depth = text[at++] == '{' ? depth + 1 : depth - 1;
      if (depth == 0)
        return;
    }
  }

  void readKernel(string_view head) {
    kernel = {};
    scopes.clear(), ranges.clear(), symbols.clear(), labels.clear(), constants.clear(), branches.clear();
    registers = 0;
    const size_t open = head.find('('), close = head.rfind(')');
    const size_t name = head.find(".entry") + 6;
    kernel.name = std::string(split(head.substr(name, open - name), blanks).at(0));
    if (open != string_view::npos)
      for (string_view parameter : split(head.substr(open + 1, close - open - 1), ","))
        if (const auto words = split(parameter, blanks); !words.empty())
          kernel.parameters.push_back(declare(words, kernel.parameterBytes));
    readBody();
    finish();
  }

  /// Gives a variable its place in a window. Returns the place.
  uint32_t declare(const std::vector<string_view> &words, uint32_t &end) {
    uint32_t align = 0, bytes = 0;
    string_view name = words.back();
    for (size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == ".align")
        align = static_cast<uint32_t>(std::atoi(std::string(words[i + 1]).c_str()));
      else if (const auto size = bytesOfType(words[i].substr(1)))
        bytes = *size;
    align = std::max(align, bytes);
    if (const size_t bracket = name.find('['); bracket != string_view::npos) {
      bytes *= static_cast<uint32_t>(std::atoi(std::string(name.substr(bracket + 1)).c_str()));
      name = name.substr(0, bracket);
    }
    if (bytes == 0)
      fail("a variable without a size");
    const uint32_t place = (end + align - 1) / align * align;
    end = place + bytes;
    symbols[std::string(name)] = place;
    return place;
  }

  void readBody() {
    do {
      skipBlanks();
      if (text[at] == '{')
        scopes.emplace_back(), ++at;
      else if (text[at] == '}')
        scopes.pop_back(), ++at;
      else
        readStatement();
    } while (!scopes.empty());
  }

  void readStatement() {
    if (text.compare(at, 4, ".loc") == 0)
      return skipLine(), void(++at);
    const size_t end = text.find_first_of(":;", at);
    if (text[at] == '$' && text[end] == ':') {
      labels[text.substr(at, end - at)] = static_cast<uint32_t>(kernel.code.size());
      at = end + 1;
      return;
    }
    const string_view statement = readUntil(";");
    ++at;
    if (statement[0] == '.')
      readDirective(split(statement, " \t\r\n,"));
    else
      readInstruction(statement);
  }

  void readDirective(const std::vector<string_view> &words) {
    if (words[0] == ".shared")
      declare(words, kernel.sharedBytes);
    else if (words[0] == ".param") // the argument or result of a call
      scopes.back()[std::string(words.back())] = registers++;
    else if (words[0] == ".reg")
      for (size_t i = 2; i < words.size(); ++i)
        declareRegister(words[i]);
    else if (words[0] != ".pragma")
      fail("an unknown directive");
  }

  /// Declares a register, or a range such as %r<9>. The first use of a register of a range gives it a number.
  void declareRegister(string_view name) {
    const size_t count = name.find('<');
    if (count == string_view::npos)
      scopes.back()[std::string(name)] = registers++;
    else
      ranges[std::string(name.substr(0, count))] =
          static_cast<uint32_t>(std::atoi(std::string(name.substr(count + 1)).c_str()));
  }
  bool isInRange(string_view name) const {
    const size_t number = std::min(name.find_first_of("0123456789"), name.size());
    const auto range = ranges.find(name.substr(0, number));
    return range != ranges.end() && number < name.size() &&
           static_cast<uint32_t>(std::atoi(std::string(name.substr(number)).c_str())) < range->second;
  }

  uint32_t constant(uint64_t value) {
    const auto [known, isNew] = constants.try_emplace(value, static_cast<uint32_t>(kernel.constants.size()));
    if (isNew)
      kernel.constants.push_back(value);
    return known->second | isConstant;
  }

  uint32_t registerOf(string_view name) {
    static const std::map<string_view, Special> special{
        {"%tid.x", Thread0}, {"%ntid.x", Threads0}, {"%ctaid.x", Block0}, {"%nctaid.x", Blocks0}, {"%laneid", Lane}};
    if (const auto known = special.find(name); known != special.end())
      return known->second | isSpecial;
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (const auto known = scope->find(name); known != scope->end())
        return known->second;
    if (!isInRange(name))
      fail("unknown name '" + std::string(name) + "'");
    return scopes.front()[std::string(name)] = registers++;
  }

  uint32_t operandOf(string_view word) {
    if (const auto known = symbols.find(word); known != symbols.end())
      return constant(known->second);
    if (word[0] != '-' && std::isdigit(static_cast<unsigned char>(word[0])) == 0)
      return registerOf(word);
    const std::string number(word);
    char *end = nullptr;
    const bool isFloat = number[0] == '0' && number.size() > 1 && std::strchr("fFdD", number[1]) != nullptr;
    const uint64_t value = isFloat            ? std::strtoull(number.c_str() + 2, &end, 16)
                           : number[0] == '-' ? static_cast<uint64_t>(std::strtoll(number.c_str(), &end, 0))
                                              : std::strtoull(number.c_str(), &end, 0);
    if (*end != '\0' && std::strcmp(end, "U") != 0)
      fail("unknown operand '" + number + "'");
    return constant(value);
  }

  /// Appends an operand. One in brackets is an address, with an offset after a plus sign.
  void readOperand(string_view word, Instruction &into, uint32_t &count) {
    if (word[0] == '[') {
      word = word.substr(1, word.size() - 2);
      if (const size_t plus = word.find('+'); plus != string_view::npos) {
        into.offset = std::strtoll(std::string(word.substr(plus + 1)).c_str(), nullptr, 0);
        word = word.substr(0, plus);
      }
    }
    if (count == into.operands.size())
      fail("too many operands");
    into.operands[count++] = operandOf(word);
  }

  void readInstruction(string_view statement) {
    Instruction made{};
    made.guard = True | isSpecial;
    made.line = statementLine;
    if (statement[0] == '@') {
      made.isNegated = statement[1] == '!';
      const size_t end = statement.find_first_of(blanks);
      made.guard = registerOf(statement.substr(made.isNegated ? 2 : 1, end - (made.isNegated ? 2 : 1)));
      statement = statement.substr(statement.find_first_not_of(blanks, end));
    }
    const size_t end = std::min(statement.find_first_of(blanks), statement.size());
    const std::string name(statement.substr(0, end));
    const string_view rest = statement.substr(end);
    std::vector<string_view> words = split(rest, " \t\r\n,{}()");
    if (name.starts_with("bra"))
      return readBranch(made, name, words);
    if (name.starts_with("call"))
      return readCall(made, words);
    uint32_t count = 0;
    if (words.size() == 2 && words[1] == "%globaltimer")
      words.pop_back(), made.execute = find("read.globaltimer");
    for (string_view word : words)
      readOperand(word, made, count);
    if (!made.execute)
      made.execute = functionOf(name, rest, made, count);
    if (!made.execute)
      fail("unknown instruction '" + name + "'");
    kernel.code.push_back(made);
  }

  void readBranch(Instruction &made, const std::string &name, const std::vector<string_view> &words) {
    if ((name != "bra" && name != "bra.uni") || words.size() != 1)
      fail("unknown instruction '" + name + "'");
    made.execute = find("bra");
    branches.emplace_back(static_cast<uint32_t>(kernel.code.size()), words[0]);
    kernel.code.push_back(made);
  }

  void readCall(Instruction &made, const std::vector<string_view> &words) {
    uint32_t count = 0;
    for (string_view word : words)
      if (word.find("3gin") == string_view::npos)
        readOperand(word, made, count);
      else
        made.execute = find(word.find("3put") != string_view::npos   ? "call.put"
                            : word.find("3add") != string_view::npos ? "call.add"
                                                                     : "call.read");
    if (!made.execute)
      fail("a call of a function that nothing replaces");
    kernel.code.push_back(made);
  }

  Execute functionOf(const std::string &name, string_view operands, Instruction &made, uint32_t count) {
    if (name.starts_with("ld.param") || name.starts_with("st.param"))
      if (isOfCall(operands))
        return moveOfCall(name, made);
    if (name.starts_with("ld.") || name.starts_with("st."))
      return accessOf(name, made, count);
    if (name.starts_with("mov.") && operands.find('{') != string_view::npos) {
      const bool unpacks = operands.find('{') < operands.find(',');
      return find((unpacks ? "unpack" : "pack") + std::to_string(count - 1) + name.substr(3));
    }
    return find(name);
  }

  /// Returns true if an address names the argument or result of a call.
  static bool isOfCall(string_view operands) {
    return operands.find("[param") != string_view::npos || operands.find("[retval") != string_view::npos;
  }
  Execute moveOfCall(const std::string &name, Instruction &made) const {
    if (made.offset != 0)
      fail("an argument that is not a number");
    return find("mov" + name.substr(8));
  }

  Execute accessOf(const std::string &name, Instruction &made, uint32_t count) const {
    Access access{Space::Generic, Order::Weak, kernel::Scope::System, 0, 1, false};
    const std::vector<string_view> parts = split(name, ".");
    for (string_view part : std::vector(parts.begin() + 1, parts.end()))
      if (!readOrder(part, access) && !readSpace(part, access) && !readVector(part, access))
        fail("unknown kind of access '" + std::string(part) + "'");
    if (access.bytes == 0 || count != access.count + 1u)
      fail("wrong operands");
    made.access = access;
    return find(name.substr(0, 2));
  }
  static bool readOrder(string_view part, Access &access) {
    static const std::map<string_view, Order> orders{{"weak", Order::Weak},
                                                     {"relaxed", Order::Relaxed},
                                                     {"acquire", Order::Acquire},
                                                     {"release", Order::Release},
                                                     {"volatile", Order::Volatile}};
    const auto known = orders.find(part);
    if (known != orders.end())
      access.order = known->second;
    return known != orders.end();
  }
  static bool readSpace(string_view part, Access &access) {
    static const std::map<string_view, Space> spaces{
        {"global", Space::Global}, {"shared", Space::Shared}, {"param", Space::Param}};
    if (part == "gpu" || part == "sys") {
      access.scope = part == "gpu" ? kernel::Scope::Gpu : kernel::Scope::System;
      return true;
    }
    const auto known = spaces.find(part);
    if (known != spaces.end())
      access.space = known->second;
    return known != spaces.end();
  }
  static bool readVector(string_view part, Access &access) {
    if (part == "v2" || part == "v4") {
      access.count = static_cast<uint8_t>(part[1] - '0');
      return true;
    }
    const auto bytes = bytesOfType(part);
    access.bytes = bytes.value_or(0);
    access.isSigned = part[0] == 's';
    return bytes.has_value();
  }

  /// Numbers the registers after the constants, and resolves the branches.
  void finish() {
    const auto first = static_cast<uint32_t>(specials + kernel.constants.size());
    const auto number = [&](uint32_t &of) {
      of = (of & isConstant) != 0  ? specials + (of & ~isConstant)
           : (of & isSpecial) != 0 ? of & ~isSpecial
                                   : first + of;
    };
    for (Instruction &each : kernel.code) {
      number(each.guard);
      for (uint32_t &operand : each.operands)
        number(operand);
    }
    for (const auto &[from, label] : branches) {
      const auto known = labels.find(label);
      statementLine = kernel.code[from].line;
      if (known == labels.end())
        fail("unknown label '" + std::string(label) + "'");
      kernel.code[from].target = known->second;
    }
    kernel.registers = first + registers;
    kernel.executed.resize(kernel.code.size());
    module.kernels.push_back(std::move(kernel));
  }

  const std::string &text;
  size_t at = 0;
  uint32_t line = 1, statementLine = 1; ///< of `at`, and of the statement
  Module module;
  // The kernel that is being read:
  Kernel kernel;
  std::vector<Names> scopes; ///< registers by name; the first scope is the kernel's
  Names ranges;              ///< numbers of registers with a common beginning of their names
  Names symbols, labels;     ///< places of variables, numbers of instructions
  std::map<uint64_t, uint32_t> constants;
  std::vector<std::pair<uint32_t, string_view>> branches;
  uint32_t registers = 0;
};

} // namespace

Module parse(std::string path, const std::string &text) {
  return Parser(std::move(path), text).run();
}

} // namespace gc3::ptx
