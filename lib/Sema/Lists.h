// SPDX-License-Identifier: Apache-2.0
// Values of a running .gc3 program: chunk references, and reference-counted lists that are copied on write if shared.
#pragma once

#include "Types.h"
#include "gc3/IR/Collective.h"
#include <utility>
#include <vector>

namespace gc3::sema {

/// A reference to `count` chunks with the contents that they had after `stamp` operations. Rank, buffer and index are
/// those that the user named, not canonical ones.
struct ChunkRef {
  uint32_t rank = 0;
  uint32_t index = 0;
  uint32_t count = 0;
  uint32_t stamp = 0;
  ir::BufferId buffer = 0;
};

struct List;

/// A list with value semantics; null is the empty list of any type.
class ListRef {
public:
  ListRef() = default;
  explicit ListRef(List *fresh) : list(fresh) {}
  ListRef(const ListRef &other);
  ListRef(ListRef &&other) noexcept : list(std::exchange(other.list, nullptr)) {}
  ListRef &operator=(ListRef other) noexcept {
    std::swap(list, other.list);
    return *this;
  }
  ~ListRef() { reset(); }
  void reset();

  List *get() const { return list; }
  size_t size() const;

private:
  List *list = nullptr;
};

/// Memory of all live lists, in units of an int. Every list and its elements are added on creation and removed on
/// destruction.
struct ListBudget {
  static constexpr uint64_t ListCost = 16;
  uint64_t limit = 0;
  uint64_t alive = 0;
  bool take(uint64_t units) {
    if (units > limit - alive)
      return false;
    alive += units;
    return true;
  }
};

/// The list itself. One of the vectors holds the elements.
struct List {
  explicit List(File elements, ListBudget &owner) : file(elements), budget(owner) {}
  ~List();

  uint32_t references = 1;
  File file;
  ListBudget &budget;
  std::vector<int64_t> ints;
  std::vector<ChunkRef> chunks;
  std::vector<ListRef> lists;

  size_t size() const { return file == File::Int ? ints.size() : file == File::Chunk ? chunks.size() : lists.size(); }
  uint64_t unitCost() const { return file == File::Chunk ? 3 : 1; }
};

inline ListRef::ListRef(const ListRef &other) : list(other.list) {
  if (list)
    ++list->references;
}
inline size_t ListRef::size() const {
  return list ? list->size() : 0;
}

/// Makes `list` a non-null, unshared list of `elements`, and reserves budget for `more` elements. Returns null if the
/// budget does not allow that.
List *own(ListRef &list, File elements, uint64_t more, ListBudget &budget);

/// Appends `other` to `list`. Returns false if the budget does not allow that.
bool append(ListRef &list, const ListRef &other, ListBudget &budget);

/// Returns true if two lists of numbers, nested or not, are equal.
bool equal(const ListRef &a, const ListRef &b);

} // namespace gc3::sema
