// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "GC3Lexer.h"
#include "GC3Parser.h"
#include "antlr4-runtime.h"
#include "gc3/Parse/Parse.h"
#include "gc3/Support/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace gc3::parse {

using grammar::GC3Lexer;
using grammar::GC3Parser;

/// Ends the token stream after MaxTokens tokens.
class BoundedLexer : public GC3Lexer {
public:
  using GC3Lexer::GC3Lexer;
  std::unique_ptr<antlr4::Token> nextToken() override {
    hitEOF |= ++count > MaxTokens;
    return GC3Lexer::nextToken();
  }
  bool isCut() { return count > MaxTokens && getInputStream()->LA(1) != antlr4::Token::EOF; }

private:
  size_t count = 0;
};

/// One run of ANTLR over a part of a source file. Owns the tokens and the tree.
class Session {
public:
  /// `source` must be UTF-8; `sourceBase` is the global offset of its first byte.
  Session(llvm::StringRef source, uint32_t sourceBase, Diagnostics &sink);

  /// file() and loneExpression() return the tree. After an error, they report it and return null.
  GC3Parser::FileContext *file();
  GC3Parser::LoneExpressionContext *loneExpression();

  SourceRange range(const antlr4::Token *token) const;
  /// Returns the range from the first to the last token of a tree.
  SourceRange range(antlr4::ParserRuleContext *context) const;

private:
  template <typename Rule>
  auto run(Rule rule) -> decltype(rule());
  bool checkTokens();

  llvm::StringRef text;
  uint32_t base;
  Diagnostics &diags;
  std::vector<uint32_t> byteOffsets; ///< byte offset of each code point; empty for ASCII
  antlr4::ANTLRInputStream input;
  BoundedLexer lexer;
  antlr4::CommonTokenStream tokens;
  GC3Parser parser;
};

} // namespace gc3::parse
