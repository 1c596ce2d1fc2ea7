// SPDX-License-Identifier: Apache-2.0
// Parses the words of `ensures for r in 0..4, c in 0..4: output(r, c) == input(c, r)`: counters over constant ranges,
// places that are linear in the counters, and one input chunk or a reduction of several.
#include "ReadPostcondition.h"
#include <algorithm>

using namespace gc3;
using namespace gc3::ir;

namespace {

class PromiseParser {
public:
  PromiseParser(Scanner &scanner, Promise &promise) : scanner(scanner), promise(promise) {}
  bool run();

private:
  bool counter(llvm::StringRef &name, Promise::Counter &counter);
  bool counters();
  bool value();
  bool term(bool reduces);
  bool ownCounter();
  bool linear(Promise::Linear &linear);
  bool addend(Promise::Linear &linear, int64_t sign);
  bool factor(llvm::StringRef name, SourceRange range, size_t &number);
  bool unknownName(llvm::StringRef name, SourceRange range) {
    return scanner.fail(DiagId::UnknownName, range, "there is no counter '" + name.str() + "'");
  }

  Scanner &scanner;
  Promise &promise;
  std::vector<llvm::StringRef> names; // names of the clause's counters
  bool inTerm = false;
  llvm::StringRef ownName; // name of the term's own counter, which is declared after the term; a term uses no other
                           // unknown name
  SourceRange ownUse;
};

} // namespace

/// Reads `r in 0..4`.
bool PromiseParser::counter(llvm::StringRef &name, Promise::Counter &counter) {
  uint32_t start = scanner.start();
  uint32_t end = 0;
  if (!scanner.name(name, "a counter"))
    return false;
  if (std::find(names.begin(), names.end(), name) != names.end())
    return scanner.fail(DiagId::Redefinition, scanner.since(start), "there is a counter '" + name.str() + "' already");
  if (!scanner.expectWord("in") || !scanner.number(counter.first, "a number") || !scanner.expect("..") ||
      !scanner.number(end, "a number"))
    return false;
  if (end <= counter.first)
    return scanner.fail(DiagId::BadOperand, scanner.since(start), "the range is empty");
  counter.count = end - counter.first;
  return true;
}

bool PromiseParser::counters() {
  do {
    uint32_t start = scanner.start();
    llvm::StringRef name;
    if (!counter(name, promise.counters.emplace_back()))
      return false;
    if (names.size() == Promise::maxCounters)
      return scanner.fail(DiagId::Syntax, scanner.since(start),
                          "more than " + std::to_string(Promise::maxCounters) + " counters");
    names.push_back(name);
  } while (scanner.take(","));
  return scanner.expect(":");
}

bool PromiseParser::factor(llvm::StringRef name, SourceRange range, size_t &number) {
  auto known = std::find(names.begin(), names.end(), name);
  number = static_cast<size_t>(known - names.begin());
  if (known != names.end())
    return true;
  number = Promise::maxCounters;
  if (!inTerm || (!ownName.empty() && ownName != name))
    return unknownName(name, range);
  ownName = name;
  ownUse = range;
  return true;
}

/// Reads `3`, `r` or `3 * r`.
bool PromiseParser::addend(Promise::Linear &linear, int64_t sign) {
  uint32_t times = 1;
  bool hasNumber = scanner.peekWord().empty();
  if (hasNumber && !scanner.number(times, "a number or a counter"))
    return false;
  if (hasNumber && !scanner.take("*")) {
    linear.constant += sign * times;
    return true;
  }
  uint32_t start = scanner.start();
  llvm::StringRef name;
  size_t number = 0;
  if (!scanner.name(name, "a counter") || !factor(name, scanner.since(start), number))
    return false;
  linear.factors[number] += sign * times;
  return true;
}

bool PromiseParser::linear(Promise::Linear &linear) {
  int64_t sign = scanner.take("-") ? -1 : 1;
  for (;;) {
    if (!addend(linear, sign))
      return false;
    if (scanner.take("+"))
      sign = 1;
    else if (scanner.take("-"))
      sign = -1;
    else
      return true;
  }
}

/// Reads `for q in 0..4` after a term of a reduction, if present.
bool PromiseParser::ownCounter() {
  if (!scanner.takeWord("for"))
    return ownName.empty() || unknownName(ownName, ownUse);
  llvm::StringRef name;
  if (!counter(name, promise.terms.back().own))
    return false;
  return ownName.empty() || ownName == name || unknownName(ownName, ownUse);
}

/// Reads `input(r, c)`.
bool PromiseParser::term(bool reduces) {
  Promise::Term &term = promise.terms.emplace_back();
  ownName = {};
  inTerm = reduces;
  return scanner.expectWord("input") && scanner.expect("(") && linear(term.rank) && scanner.expect(",") &&
         linear(term.index) && scanner.expect(")") && (!reduces || ownCounter());
}

bool PromiseParser::value() {
  if (!scanner.takeWord("reduce"))
    return scanner.peekWord() == "input" ? term(false) : scanner.expected("'input' or 'reduce'");
  if (!scanner.expect("("))
    return false;
  do {
    if (!term(true))
      return false;
  } while (scanner.take(","));
  return scanner.expect(")");
}

bool PromiseParser::run() {
  uint32_t start = scanner.start();
  if (scanner.takeWord("for") && !counters())
    return false;
  if (!scanner.expectWord("output") || !scanner.expect("(") || !linear(promise.rank))
    return false;
  bool wholeRow = scanner.take(")");
  if (!wholeRow && (!scanner.expect(",") || !linear(promise.index) || !scanner.expect(")")))
    return false;
  if (!scanner.expect("=="))
    return false;
  bool good = wholeRow
                  ? scanner.expectWord("output") && scanner.expect("(") && linear(promise.model) && scanner.expect(")")
                  : value();
  promise.place = scanner.since(start);
  return good && scanner.endLine();
}

bool gc3::ir::readPromise(Scanner &scanner, Promise &promise) {
  return PromiseParser(scanner, promise).run();
}
