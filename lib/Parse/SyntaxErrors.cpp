// SPDX-License-Identifier: Apache-2.0
// Makes messages such as "expected ';' after the statement, found 'let'": gathers the tokens that the parser could
// accept into phrases. Never lists operators, because they can follow every operand and are rarely left out by
// accident.
#include "SyntaxErrors.h"
#include "GC3Parser.h"
#include <set>
#include <string_view>

using namespace gc3::parse;
using gc3::grammar::GC3Parser;

using Words = std::set<std::string>;

static std::string found(antlr4::Token *token) {
  if (token->getType() == antlr4::Token::EOF)
    return "the end of the text";
  std::string text = token->getText();
  if (text[0] == '"')
    return "a string";
  return "'" + (text.size() > 24 ? text.substr(0, 24) + "..." : text) + "'";
}

static Words spellings(antlr4::Parser *parser, const antlr4::misc::IntervalSet &set) {
  Words words;
  for (ssize_t type : set.toList()) {
    if (type == static_cast<ssize_t>(antlr4::Token::EOF)) {
      words.insert("EOF");
      continue;
    }
    std::string literal = parser->getVocabulary().getLiteralName(static_cast<size_t>(type));
    words.insert(literal.size() > 2 ? literal.substr(1, literal.size() - 2)
                                    : parser->getVocabulary().getSymbolicName(static_cast<size_t>(type)));
  }
  return words;
}

static void drop(Words &words, std::initializer_list<const char *> list) {
  for (const char *word : list)
    words.erase(word);
}

/// Replaces the tokens that begin one construct with the name of the construct.
static std::vector<std::string> removePhrases(Words &words) {
  std::vector<std::string> phrases;
  bool startsExpression = words.count("INT") != 0;
  if (words.count("program")) {
    phrases.push_back("'import', 'param', 'fn', 'collective' or 'program'");
    drop(words, {"import", "param", "fn", "collective", "program", "EOF"});
  } else if (words.count("while")) {
    phrases.push_back("a statement");
    drop(words, {"let", "var", "for", "while", "if", "else", "return", "break", "continue", "assert", "remark",
                 "parallelize", "channel", "protocol", "scratch", "{"});
  } else if (words.count("ensures") && words.count("assert")) {
    phrases.push_back("a clause (ranks, input, output, alias, ensures, let, assert)");
    drop(words, {"input", "output", "let", "var", "assert", "ranks", "alias", "ensures"});
  } else if (startsExpression) {
    phrases.push_back("an expression");
  } else if (words.count("ID")) {
    phrases.push_back(words.erase("[") ? "a type" : "a name");
    words.erase("protocol"); // begins a type, too
  }
  if (startsExpression)
    drop(words, {"INT", "STRING", "true", "false", "input", "output", "scratch", "(", "[", "-", "!", "~"});
  if (startsExpression || words.count("ID"))
    drop(words, {"ID", "ranks", "on", "is", "when", "by", "sizes", "instances", "alias", "ensures", "reduce",
                 "implements", "or", "nccl", "pinned", "nodes", "of"});
  return phrases;
}

static std::string expected(Words words) {
  bool afterOperand = words.count("*") != 0 || words.count(".") != 0;
  std::vector<std::string> phrases = removePhrases(words);
  if (afterOperand)
    drop(words, {"(", "[", ".", "..", "?",  "-", "+",  "*", "/",  "%",  "<<", ">>",
                 "&", "^", "|", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "by"});
  if (words.count(";"))
    drop(words, {"=", "+=", "-=", "*=", "/=", "%=", "in", "or", "pinned"});
  for (const std::string &word : words)
    phrases.push_back(word == "EOF" ? "the end of the text" : word == "STRING" ? "a string" : "'" + word + "'");
  std::string text;
  for (size_t i = 0; i < phrases.size(); ++i)
    text += (i == 0 ? "" : i + 1 == phrases.size() ? " or " : ", ") + phrases[i];
  return text;
}

static std::string place(antlr4::Parser *parser) {
  switch (parser->getContext()->getRuleIndex()) {
  case GC3Parser::RuleImportItem:
  case GC3Parser::RuleParamItem:
  case GC3Parser::RuleFunctionItem: return " after the declaration";
  case GC3Parser::RuleRanksClause:
  case GC3Parser::RuleShapeClause:
  case GC3Parser::RuleAliasClause:
  case GC3Parser::RuleEnsuresClause: return " after the clause";
  default: return " after the statement";
  }
}

/// Suggests the spelling of this language for a construct of another language, based on the token found, the token
/// before it, or both.
static std::string hint(antlr4::Token *previous, antlr4::Token *token, const Words &words, bool wantsName) {
  struct ForeignSyntax {
    std::string_view before, found, hint;
  };
  static const ForeignSyntax foreignSyntax[] = {
      {"", "and", "'&&' joins conditions"},
      {"", "or", "'||' joins conditions"},
      {"not", "", "'!' negates"},
      {"+", "+", "'+= 1' counts up"},
      {"-", ";", "'-= 1' counts down"},
      {"*", "*", "the language has no operator for powers"},
      {"..", "=", "a range excludes its end: '0..n + 1'"},
  };
  std::string before = previous ? previous->getText() : "", found = token->getText();
  if (before == "." && token->getType() == GC3Parser::INT)
    return "; numbers are integers";
  bool isWord = token->getType() != GC3Parser::ID && found[0] >= 'a' && found[0] <= 'z';
  if (wantsName && isWord)
    return "; a keyword can't be a name";
  if ((found == "channel" || found == "parallelize") && words.count(")") != 0)
    return "; write it around operations: '" + found + " (k) { ... }'";
  if (found == "=" && (words.count("{") != 0 || words.count("==") != 0))
    return "; '==' compares";
  for (const ForeignSyntax &foreign : foreignSyntax)
    if ((foreign.before.empty() || foreign.before == before) && (foreign.found.empty() || foreign.found == found))
      return "; " + std::string(foreign.hint);
  return "";
}

void ReportingStrategy::reportAt(antlr4::Parser *parser, antlr4::Token *token) {
  Words words = spellings(parser, getExpectedTokens(parser));
  std::string wanted = expected(words);
  if (wanted == "';'")
    wanted += place(parser);
  antlr4::Token *previous = parser->getTokenStream()->LT(-1);
  const bool lacksType = wanted == "':'" && parser->getContext()->getRuleIndex() == GC3Parser::RuleParamItem;
  sink(previous, token,
       "expected " + wanted + ", found " + found(token) +
           (lacksType ? "; a param needs a type: 'param " + previous->getText() + ": int = ...'"
                      : hint(previous, token, words, wanted == "a name")));
}

void ReportingStrategy::reportNoViableAlternative(antlr4::Parser *parser, const antlr4::NoViableAltException &error) {
  antlr4::Token *start = error.getStartToken();
  antlr4::Token *offender = error.getOffendingToken();
  if (start == offender)
    return reportAt(parser, offender);
  sink(nullptr, offender, "unexpected " + found(offender) + " after " + found(start));
}

void ReportingStrategy::reportInputMismatch(antlr4::Parser *parser, const antlr4::InputMismatchException &error) {
  reportAt(parser, error.getOffendingToken());
}

void ReportingStrategy::reportUnwantedToken(antlr4::Parser *parser) {
  if (inErrorRecoveryMode(parser))
    return;
  beginErrorCondition(parser);
  reportAt(parser, parser->getCurrentToken());
}

void ReportingStrategy::reportMissingToken(antlr4::Parser *parser) {
  reportUnwantedToken(parser);
}
