// SPDX-License-Identifier: Apache-2.0
// List operations. Passing a list takes constant time. Appending or writing an element also takes constant time if the
// list is not shared.
#include "Lists.h"

using namespace gc3::sema;

void ListRef::reset() {
  if (list && --list->references == 0)
    delete list;
  list = nullptr;
}

List::~List() {
  budget.alive -= ListBudget::ListCost + size() * unitCost();
}

List *gc3::sema::own(ListRef &list, File elements, uint64_t more, ListBudget &budget) {
  List *old = list.get();
  if (old && old->size() == 0 && old->file != elements) // an empty list has no type of its own
    old = nullptr;
  uint64_t unit = elements == File::Chunk ? 3 : 1;
  if (more > budget.limit)
    return nullptr;
  if (old && old->references == 1)
    return budget.take(more * unit) ? old : nullptr;
  uint64_t kept = old ? old->size() : 0;
  if (!budget.take(ListBudget::ListCost + (kept + more) * unit))
    return nullptr;
  List *fresh = new List(elements, budget);
  if (old) {
    fresh->ints = old->ints;
    fresh->chunks = old->chunks;
    fresh->lists = old->lists;
  }
  list = ListRef(fresh);
  return fresh;
}

bool gc3::sema::append(ListRef &list, const ListRef &other, ListBudget &budget) {
  if (other.size() == 0)
    return true;
  if (list.size() == 0) {
    list = other;
    return true;
  }
  ListRef tail = other; // NOLINT(performance-unnecessary-copy-initialization): `other` may be `list` itself
  List *target = own(list, tail.get()->file, tail.size(), budget);
  if (!target)
    return false;
  const List &source = *tail.get();
  target->ints.insert(target->ints.end(), source.ints.begin(), source.ints.end());
  target->chunks.insert(target->chunks.end(), source.chunks.begin(), source.chunks.end());
  target->lists.insert(target->lists.end(), source.lists.begin(), source.lists.end());
  return true;
}

bool gc3::sema::equal(const ListRef &a, const ListRef &b) {
  if (a.get() == b.get() || a.size() == 0 || b.size() == 0)
    return a.size() == b.size();
  if (a.get()->ints != b.get()->ints || a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.get()->lists.size(); ++i)
    if (!equal(a.get()->lists[i], b.get()->lists[i]))
      return false;
  return true;
}
