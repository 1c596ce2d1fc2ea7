// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "antlr4-runtime.h"
#include <functional>

namespace gc3::parse {

/// ANTLR's error recovery, with messages in the terms of the language.
class ReportingStrategy : public antlr4::DefaultErrorStrategy {
public:
  /// Gets the token before the error (or null), the token at the error, and the message.
  using Sink = std::function<void(antlr4::Token *, antlr4::Token *, const std::string &)>;
  explicit ReportingStrategy(Sink receiver) : sink(std::move(receiver)) {}

protected:
  void reportNoViableAlternative(antlr4::Parser *parser, const antlr4::NoViableAltException &error) override;
  void reportInputMismatch(antlr4::Parser *parser, const antlr4::InputMismatchException &error) override;
  void reportUnwantedToken(antlr4::Parser *parser) override;
  void reportMissingToken(antlr4::Parser *parser) override;

private:
  void reportAt(antlr4::Parser *parser, antlr4::Token *found);

  Sink sink;
};

/// Returns the first token at which the tree of these tokens is deeper than `limit`, or null. ANTLR's parser recurses
/// as deep as the tree, even during prediction, so the caller must check the depth first.
antlr4::Token *tooDeepAt(antlr4::CommonTokenStream &tokens, unsigned limit);

/// Returns the last bracket that the text opens and does not close, or null.
antlr4::Token *innermostOpen(antlr4::CommonTokenStream &tokens);

} // namespace gc3::parse
