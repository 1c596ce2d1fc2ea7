// SPDX-License-Identifier: Apache-2.0
// Computes an upper bound for the depth of the tree in one pass over the tokens. Each open bracket is a level. Each
// operator, postfix, `?` or `else` since the last separator inside the same bracket is a level, too. Also finds the
// bracket that a text leaves open.
#include "GC3Lexer.h"
#include "SyntaxErrors.h"
#include <vector>

using namespace gc3;
using grammar::GC3Lexer;

namespace {
enum class Role { Operand, Open, Close, CloseBlock, Separator, Else, Operator };
}

static Role roleOf(const std::string &text, size_t type) {
  if (type == GC3Lexer::INT || type == GC3Lexer::ID || type == GC3Lexer::STRING)
    return Role::Operand;
  switch (text[0]) {
  case '(':
  case '[':
  case '{': return Role::Open;
  case ')':
  case ']': return Role::Close;
  case '}': return Role::CloseBlock;
  case ',':
  case ';': return Role::Separator;
  default: break;
  }
  if (text == "else")
    return Role::Else;
  if (text == ":" || text == "=" || text == "->") // a '?' counts, so its ':' need not
    return Role::Operand;
  return (text[0] >= 'a' && text[0] <= 'z') ? Role::Operand : Role::Operator;
}

antlr4::Token *parse::tooDeepAt(antlr4::CommonTokenStream &tokens, unsigned limit) {
  std::vector<unsigned> levels = {0}; // operators since the last separator, by open bracket
  size_t depth = 0;                   // open brackets, plus all of `levels`
  bool afterBlock = false;
  for (antlr4::Token *token : tokens.getTokens()) {
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL || token->getType() == antlr4::Token::EOF)
      continue;
    Role role = roleOf(token->getText(), token->getType());
    bool separates = role == Role::Separator || (afterBlock && role != Role::Else);
    afterBlock = role == Role::CloseBlock;
    if (separates) {
      depth -= levels.back();
      levels.back() = 0;
    }
    if (role == Role::Open) {
      levels.push_back(0);
      ++depth;
    } else if ((role == Role::Close || role == Role::CloseBlock) && levels.size() > 1) {
      depth -= levels.back() + 1;
      levels.pop_back();
    }
    if (role == Role::Operator || role == Role::Else || role == Role::Close) {
      ++levels.back();
      ++depth;
    }
    if (depth > limit)
      return token;
  }
  return nullptr;
}

antlr4::Token *parse::innermostOpen(antlr4::CommonTokenStream &tokens) {
  std::vector<antlr4::Token *> open;
  for (antlr4::Token *token : tokens.getTokens()) {
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL || token->getType() == antlr4::Token::EOF)
      continue;
    Role role = roleOf(token->getText(), token->getType());
    if (role == Role::Open)
      open.push_back(token);
    else if ((role == Role::Close || role == Role::CloseBlock) && !open.empty())
      open.pop_back();
  }
  return open.empty() ? nullptr : open.back();
}
