// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "CommonTokenStream.h"

namespace gc3::parse {

/// The first token at which the tree of these tokens would be deeper than `limit`, or null. ANTLR's parser recurses
/// with the tree, in prediction too, so this is asked before it runs.
antlr4::Token *tooDeepAt(antlr4::CommonTokenStream &tokens, unsigned limit);

/// The last bracket that the text opens and does not close, or null.
antlr4::Token *innermostOpen(antlr4::CommonTokenStream &tokens);

} // namespace gc3::parse
