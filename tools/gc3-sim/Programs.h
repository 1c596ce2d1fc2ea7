// SPDX-License-Identifier: Apache-2.0
// The programs to simulate. A bundle is used as it is; every other format is compiled to a bundle, and then the steps
// have source lines.
#pragma once

#include "Pipeline.h"
#include "bundle/BundleFile.h"

#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <set>

namespace gc3::sim {

class Programs {
public:
  /// `path` is the file; `defines` are params of a .gc3 file.
  Programs(const std::string &path, const std::vector<std::pair<std::string, std::string>> &defines);

  /// Reads the file. Returns false after an error, which is printed or in `error`.
  bool read(std::string &error);
  /// Like read(), but uses only the params that the file has, and adds their names to `used`.
  bool readAmongOthers(std::set<std::string> &used, std::string &error);
  const bundle::BundleFile &bundle() const { return *file; }
  /// Returns the place of a step, such as "ring.gc3:7", or an empty string if the file is a bundle. `program` is a
  /// number in the bundle.
  std::string placeOf(uint32_t program, uint32_t step) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> open(std::string &error);
  bool load(llvm::StringRef text, std::string &error);
  bool compile(llvm::StringRef text);

  driver::Options options;
  driver::Session session;
  driver::Pipeline pipeline;
  std::unique_ptr<bundle::BundleFile> file;
};

} // namespace gc3::sim
