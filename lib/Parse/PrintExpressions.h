// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gc3/Parse/Ast.h"

namespace llvm {
class raw_ostream;
}

namespace gc3::parse {

void printExpr(llvm::raw_ostream &out, const ast::Expr &expr);
void printArguments(llvm::raw_ostream &out, llvm::ArrayRef<ast::Argument> arguments);
void printBinders(llvm::raw_ostream &out, llvm::ArrayRef<ast::Binder> binders);
/// Prints the text in double quotes, with the escapes that it needs.
void printQuoted(llvm::raw_ostream &out, llvm::StringRef text);

} // namespace gc3::parse
