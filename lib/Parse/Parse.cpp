// SPDX-License-Identifier: Apache-2.0
// Parses text to an AST. ANTLR first predicts with SLL, which is fast and nearly always sufficient, and stops at the
// first problem. After a problem it parses the same tokens again with full LL, which reports errors and recovers.
// Linear in the text in practice.
#include "gc3/Parse/Parse.h"
#include "AstBuilder.h"
#include "Session.h"
#include "SyntaxErrors.h"
#include "llvm/Support/ConvertUTF.h"

using namespace gc3;
using namespace gc3::parse;

static std::vector<uint32_t> codePointOffsets(llvm::StringRef text) {
  std::vector<uint32_t> offsets;
  auto isContinuation = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  if (llvm::none_of(text, [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; }))
    return offsets;
  for (size_t i = 0; i < text.size(); ++i)
    if (!isContinuation(text[i]))
      offsets.push_back(static_cast<uint32_t>(i));
  offsets.push_back(static_cast<uint32_t>(text.size()));
  return offsets;
}

Session::Session(llvm::StringRef source, uint32_t sourceBase, Diagnostics &sink)
    : text(source), base(sourceBase), diags(sink), byteOffsets(codePointOffsets(source)),
      input(source.data(), source.size()), lexer(&input), tokens(&lexer), parser(&tokens) {}

SourceRange Session::range(const antlr4::Token *token) const {
  auto offset = [&](size_t point) {
    size_t byte = byteOffsets.empty() ? point : byteOffsets[std::min(point, byteOffsets.size() - 1)];
    return base + static_cast<uint32_t>(std::min(byte, text.size()));
  };
  if (token->getType() == antlr4::Token::EOF)
    return {offset(text.size()), offset(text.size())};
  return {offset(token->getStartIndex()), offset(token->getStopIndex() + 1)};
}

SourceRange Session::range(antlr4::ParserRuleContext *context) const {
  return {range(context->getStart()).begin, range(context->getStop() ? context->getStop() : context->getStart()).end};
}

/// Reports characters that form no token, which the lexer hides from the parser, and texts beyond the limits on length
/// and nesting.
bool Session::checkTokens() {
  bool good = true;
  size_t strayLine = 0; // the stray characters of a line are one error
  auto report = [&](DiagId id, SourceRange where, const char *message) {
    diags.error(id, where, message);
    good = false;
  };
  if (lexer.isCut()) {
    report(DiagId::TooLarge, range(tokens.get(MaxTokens - 1)), "more than 1048576 tokens in one file; split it up");
    static_assert(MaxTokens == 1048576);
    return false;
  }
  for (antlr4::Token *token : tokens.getTokens()) {
    SourceRange where = range(token);
    if (token->getType() == GC3Lexer::OPEN_STRING) {
      report(DiagId::Syntax, {where.begin, where.begin + 1}, "string without a closing '\"' on its line");
    } else if (token->getType() == GC3Lexer::OPEN_COMMENT) {
      report(DiagId::Syntax, {where.begin, where.begin + 2}, "comment without a closing '*/'");
    } else if (token->getType() == GC3Lexer::STRAY) {
      bool isQuote = token->getText() == "'" || token->getText() == "\u201c" || token->getText() == "\u201d";
      if (token->getLine() != strayLine)
        report(DiagId::Syntax, where,
               isQuote ? "strings stand in double quotes, as in \"text\""
                       : "this character has no place outside of strings and comments");
      strayLine = token->getLine();
    }
  }
  if (antlr4::Token *deep = tooDeepAt(tokens, MaxNesting))
    report(DiagId::TooDeep, range(deep),
           "nested more than 400 levels deep (each bracket, operator and 'else' counts); split this up");
  static_assert(MaxNesting == 400);
  return good;
}

template <typename Rule>
auto Session::run(Rule rule) -> decltype(rule()) {
  lexer.removeErrorListeners();
  parser.removeErrorListeners();
  tokens.fill();
  if (!checkTokens())
    return nullptr;
  auto *simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  try {
    simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
    parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
    return rule();
  } catch (antlr4::ParseCancellationException &) {
    tokens.seek(0);
    parser.reset();
  }
  size_t lastLine = 0; // line of the last error
  simulator->setPredictionMode(antlr4::atn::PredictionMode::LL);
  parser.setErrorHandler(std::make_shared<ReportingStrategy>(
      [&](antlr4::Token *previous, antlr4::Token *found, const std::string &message) {
        bool isEnd = found->getType() == antlr4::Token::EOF;
        // If something is missing at the end of a line, the error belongs there, not at the start of a later line.
        bool isBefore = previous && (previous->getLine() != found->getLine() || isEnd);
        size_t line = (isBefore ? previous : found)->getLine();
        // A second error on a line, or at the end of the text, is nearly always a consequence of the first.
        if (line == lastLine || (isEnd && lastLine != 0))
          return;
        lastLine = line;
        SourceRange where = range(found);
        if (isBefore)
          where = {range(previous).end, range(previous).end};
        Diagnostic &error = diags.error(DiagId::Syntax, where, message);
        if (antlr4::Token *open = isEnd ? innermostOpen(tokens) : nullptr)
          error.note(range(open), "this '" + open->getText() + "' is never closed");
      }));
  auto *tree = rule();
  return lastLine == 0 ? tree : nullptr;
}

GC3Parser::FileContext *Session::file() {
  return run([&] { return parser.file(); });
}

GC3Parser::LoneExpressionContext *Session::loneExpression() {
  return run([&] { return parser.loneExpression(); });
}

/// Adds the text to the sources. Returns the global offset of its first byte after any byte order mark, or 0 after an
/// error.
static uint32_t addSource(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef &text) {
  if (text.size() > MaxFileSize) {
    diags.error(DiagId::TooLarge, {},
                "'" + name.str() + "' has " + std::to_string(text.size()) + " bytes, and a source file may have " +
                    std::to_string(MaxFileSize));
    return 0;
  }
  uint32_t base = sources.add(name, text);
  if (base == 0) {
    diags.error(DiagId::TooLarge, {}, "all source files together pass 4 GiB at '" + name.str() + "'");
    return 0;
  }
  text = sources.text({base, base + static_cast<uint32_t>(text.size())});
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.bytes_begin());
  if (!llvm::isLegalUTF8String(&at, reinterpret_cast<const llvm::UTF8 *>(text.bytes_end()))) {
    auto offset = static_cast<uint32_t>(at - text.bytes_begin());
    diags.error(DiagId::NotUtf8, {base + offset, base + offset + 1}, "the file is not UTF-8 text here");
    return 0;
  }
  if (text.consume_front("\xef\xbb\xbf"))
    base += 3;
  return base;
}

std::unique_ptr<const ast::File> parse::parseFile(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                                  llvm::StringRef text) {
  uint32_t base = addSource(sources, diags, name, text);
  if (base == 0)
    return nullptr;
  Session session(text, base, diags);
  GC3Parser::FileContext *tree = session.file();
  if (!tree)
    return nullptr;
  auto file = std::make_unique<ast::File>();
  AstBuilder builder(session, text, base, file->arena, diags);
  return builder.build(tree, *file) ? std::move(file) : nullptr;
}

std::unique_ptr<const ast::LoneExpression> parse::parseExpression(SourceManager &sources, Diagnostics &diags,
                                                                  llvm::StringRef name, llvm::StringRef text) {
  uint32_t base = addSource(sources, diags, name, text);
  if (base == 0)
    return nullptr;
  Session session(text, base, diags);
  GC3Parser::LoneExpressionContext *tree = session.loneExpression();
  if (!tree)
    return nullptr;
  auto lone = std::make_unique<ast::LoneExpression>();
  AstBuilder builder(session, text, base, lone->arena, diags);
  lone->expr = builder.expression(tree->expression());
  return builder.good() ? std::move(lone) : nullptr;
}
