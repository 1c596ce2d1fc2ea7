// SPDX-License-Identifier: Apache-2.0
// Parses text to a syntax tree and prints the tree as text.
#pragma once

#include "gc3/Parse/Ast.h"
#include "gc3/Support/Diagnostics.h"
#include <memory>

namespace llvm {
class raw_ostream;
}

namespace gc3::parse {

/// Maximum depth of expressions, blocks and types. Each operator of a chain and each `else if` counts as one level.
inline constexpr unsigned MaxNesting = 400;
/// Maximum number of bytes of one file.
inline constexpr size_t MaxFileSize = size_t(8) << 20;
/// Maximum number of tokens of one file. ANTLR takes a few hundred bytes and a microsecond for each.
inline constexpr size_t MaxTokens = size_t(1) << 20;

/// Adds `text` to the sources and parses it. Returns null after an error, which is in `diags`.
std::unique_ptr<const ast::File> parseFile(SourceManager &sources, Diagnostics &diags, llvm::StringRef name,
                                           llvm::StringRef text);

/// Like parseFile(), for a text that consists of one expression.
std::unique_ptr<const ast::LoneExpression> parseExpression(SourceManager &sources, Diagnostics &diags,
                                                           llvm::StringRef name, llvm::StringRef text);

/// Prints canonical .gc3: one statement per line, every operation in parentheses. The output parses to the same tree.
void printAst(llvm::raw_ostream &out, const ast::File &file);

/// Prints `fn name(parameters) -> type` or `collective name(parameters)` in canonical .gc3. Omits the type if it is
/// inferred.
void printSignature(llvm::raw_ostream &out, const ast::Function &function);
void printSignature(llvm::raw_ostream &out, const ast::Collective &collective);

} // namespace gc3::parse
