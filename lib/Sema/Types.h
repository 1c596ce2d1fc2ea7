// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gc3::sema {

/// Register file for values of a type. Ints, bools, strings, buffers and protocols are numbers in the file Int.
enum class File : uint8_t { Int, Chunk, List };
inline constexpr unsigned FileCount = 3;

/// A base type inside `depth` lists.
struct Type {
  enum Base : uint8_t {
    Error, ///< type of an expression with a reported error: agrees with every type
    None,  ///< type of a call without a result
    Int,
    Bool,
    String,
    Buffer,
    Protocol,
    Chunk,
    Unknown, ///< element type of `[]`
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
inline constexpr Type integer{Type::Int, 0};

/// Returns the name of the type: "int", "[chunk]".
std::string str(Type type);

/// Returns true if a value of type `from` is allowed where `to` is expected.
bool accepts(Type to, Type from);

/// Returns the common type of both, or Error if there is none.
Type unify(Type a, Type b);

} // namespace gc3::sema
