// SPDX-License-Identifier: Apache-2.0
// A value, or the error that explains its absence.
#pragma once

#include <cassert>
#include <utility>
#include <variant>

namespace gc3::common {

/// A `T` or an error. A function returns either one directly: `return value;` or `return error;`. A default-constructed
/// `Error` means success.
template <typename T, typename Error>
class [[nodiscard]] Result {
public:
  Result(T value) : held(std::in_place_index<0>, std::move(value)) {}
  /// `error` must describe a failure: error.ok() must be false.
  Result(Error error) : held(std::in_place_index<1>, std::move(error)) { assert(!ok() && !outcome().ok()); }

  bool ok() const { return held.index() == 0; }
  /// Returns the error, or a default-constructed `Error` if there is a value.
  Error outcome() const { return ok() ? Error{} : std::get<1>(held); }
  /// If there is a value, moves it to `place`. Returns outcome().
  template <typename To>
  Error moveTo(To &place) && {
    if (!ok())
      return std::move(*std::get_if<1>(&held));
    place = std::move(**this);
    return {};
  }

  // Returns the value, which must exist.
  T &operator*() { return *std::get_if<0>(&held); }
  const T &operator*() const { return *std::get_if<0>(&held); }
  T *operator->() { return std::get_if<0>(&held); }
  const T *operator->() const { return std::get_if<0>(&held); }

private:
  std::variant<T, Error> held;
};

} // namespace gc3::common
