// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gc3::sema {

/// Where values of a type live: ints, bools, strings and buffers are numbers.
enum class File : uint8_t { Int, Chunk, List };
inline constexpr unsigned FileCount = 3;

/// A base type inside `depth` lists.
struct Type {
  enum Base : uint8_t {
    Error, ///< of an expression with a reported error: agrees with everything
    None,  ///< of a call without a result
    Int,
    Bool,
    String,
    Buffer,
    Chunk,
    Unknown, ///< of the elements of `[]`
  };
  Base base = Error;
  uint16_t depth = 0;

  bool operator==(const Type &) const = default;
  bool is(Base scalar) const { return base == scalar && depth == 0; }
  bool isError() const { return base == Error; }
  bool isList() const { return depth != 0; }
  Type element() const { return {base, static_cast<uint16_t>(depth - 1)}; }
  Type list() const { return {base, static_cast<uint16_t>(depth + 1)}; }
  File file() const { return depth ? File::List : base == Chunk ? File::Chunk : File::Int; }
};

/// "int", "[chunk]"
std::string str(Type type);

/// Whether a value of type `from` may stand where `to` is wanted.
bool accepts(Type to, Type from);

/// The type of both, or Error if there is none.
Type unify(Type a, Type b);

} // namespace gc3::sema
