// SPDX-License-Identifier: Apache-2.0
// Reads checked values from JSON. A message begins with the path of the wrong value. C++17, like all files that include
// llvm/Support/JSON.h (CMakeLists.txt).
#pragma once

#include "gc3/Topology/LinkKind.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace gc3::topology {

namespace json = llvm::json;

/// A value and its path. Paths are made only for values that are read.
struct Value {
  const json::Value *value;
  std::string path;
};

/// The members of an object, and their path.
struct Members {
  const json::Object *object = nullptr;
  std::string path;
};

/// Reads until the first error. Then `error` is set, and no further value must be used.
class JsonReader {
public:
  /// `error` must be empty, and must outlive this object.
  explicit JsonReader(std::string &error) : error(error) {}

  bool failed() const { return !error.empty(); }
  /// Keeps the first error only.
  void fail(const std::string &path, const std::string &message);

  /// Returns the members of an object. Fails if the value is no object, or if it has a member that is not in `known`.
  std::optional<Members> object(const Value &value, std::initializer_list<llvm::StringRef> known);
  std::vector<Value> array(const Value &value);
  std::optional<Value> member(const Members &members, llvm::StringRef name, bool isNeeded = false);

  uint32_t number(const Value &value, int64_t lowest, int64_t highest, const char *what);
  /// Returns a finite number of at least 0.
  double quantity(const Value &value, const char *what);
  /// Returns a finite number above 0.
  double rate(const Value &value, const char *what);
  bool flag(const Value &value);
  /// Returns a string without control characters.
  std::string line(const Value &value);
  LinkKind kind(const Value &value);

private:
  std::string &error;
};

} // namespace gc3::topology
