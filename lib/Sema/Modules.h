// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gc3/Parse/Ast.h"
#include "gc3/Sema/Sema.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace gc3::sema {

/// The main file and all that it imports, each once, imported files first. Everything in them shares one set of names.
struct Modules {
  std::vector<std::unique_ptr<const ast::File>> files;
  const ast::File *main = nullptr;            ///< null if it could not be parsed
  llvm::DenseSet<const ast::File *> standard; ///< those that came with the compiler: no user can open them
};

/// Loads the standard collectives, the main file and its imports; errors go to `diags`.
Modules loadModules(SourceManager &sources, Diagnostics &diags, llvm::StringRef name, llvm::StringRef text,
                    const SemaOptions &options, std::vector<std::string> *filesRead);

/// A file of the standard library by its name in an import ("std/rings.gc3"), or nothing.
struct StandardFile {
  llvm::StringRef name;
  llvm::StringRef text;
};
llvm::ArrayRef<StandardFile> standardFiles();

} // namespace gc3::sema
