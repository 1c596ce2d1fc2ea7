// SPDX-License-Identifier: Apache-2.0
// Text to syntax tree and back.
#pragma once

#include "gc3/Parse/Ast.h"
#include "gc3/Support/Diagnostics.h"
#include <memory>

namespace llvm {
class raw_ostream;
}

namespace gc3::parse {

/// How deep expressions, blocks and types may nest; chains of operators and of `else if` count a level each.
inline constexpr unsigned MaxNesting = 400;
/// Bytes of one file.
inline constexpr size_t MaxFileSize = size_t(8) << 20;
/// Tokens of one file: ANTLR takes a few hundred bytes for each, and a microsecond.
inline constexpr size_t MaxTokens = size_t(1) << 20;

/// Adds `text` to the sources and parses it. Null after any error, which is then in `diags`.
std::unique_ptr<const ast::File> parseFile(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                           llvm::StringRef text);

/// The same for one expression that makes up the whole text.
std::unique_ptr<const ast::LoneExpression> parseExpression(SourceManager &sources, Diagnostics &diags,
                                                           llvm::StringRef name, llvm::StringRef text);

/// Canonical .gc3: one statement a line, every operation in parentheses. Parses back to the same tree.
void printAst(llvm::raw_ostream &out, const ast::File &file);

/// `fn name(parameters) -> type` or `collective name(parameters)`, in the same spelling. An inferred type is left out.
void printSignature(llvm::raw_ostream &out, const ast::Function &function);
void printSignature(llvm::raw_ostream &out, const ast::Collective &collective);

} // namespace gc3::parse
