// SPDX-License-Identifier: Apache-2.0
// An error code with its text, and a value or the error that explains why there is none.
#pragma once

#include "gc3.h"

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace gc3::core {

/// Success, or an error code with its text. The text is empty on success.
struct Outcome {
  gc3Result_t code = gc3Success;
  std::string text;
  bool ok() const { return code == gc3Success; }
};

/// A `T`, or an error. A function returns either as it is: `return value;` or `return outcome;`.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : held(std::in_place_index<0>, std::move(value)) {}
  /// `error` must not be a success.
  Result(Outcome error) : held(std::in_place_index<1>, std::move(error)) { assert(!ok() && !outcome().ok()); }

  bool ok() const { return held.index() == 0; }
  /// The error; a success if there is a value.
  Outcome outcome() const { return ok() ? Outcome{} : std::get<1>(held); }

  // The value, which must exist.
  T &operator*() { return *std::get_if<0>(&held); }
  const T &operator*() const { return *std::get_if<0>(&held); }
  T *operator->() { return std::get_if<0>(&held); }
  const T *operator->() const { return std::get_if<0>(&held); }

private:
  std::variant<T, Outcome> held;
};

} // namespace gc3::core
