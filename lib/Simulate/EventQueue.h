// SPDX-License-Identifier: Apache-2.0
// The next event of each actor, in order of time. Actors with equal times come in order of their numbers, so a
// simulation is deterministic. A heap with four children a node; each operation takes O(log actors).
#pragma once

#include <cstdint>
#include <vector>

namespace gc3::simulate {

class EventQueue {
public:
  explicit EventQueue(uint32_t actors) : place(actors, Absent) {}

  bool empty() const { return heap.empty(); }
  double time() const { return heap[0].time; }
  uint32_t actor() const { return heap[0].actor; }

  /// Sets the actor's only event, and replaces its earlier one.
  void schedule(uint32_t actor, double time) {
    uint32_t at = place[actor];
    if (at == Absent) {
      at = static_cast<uint32_t>(heap.size());
      heap.push_back({time, actor});
      place[actor] = at;
      rise(at);
      return;
    }
    heap[at].time = time;
    rise(at);
    sink(place[actor]);
  }

  /// Removes the first event.
  void pop() {
    place[heap[0].actor] = Absent;
    const Event last = heap.back();
    heap.pop_back();
    if (heap.empty())
      return;
    put(0, last);
    sink(0);
  }

private:
  static constexpr uint32_t Absent = UINT32_MAX, Children = 4;
  struct Event {
    double time;
    uint32_t actor;
    bool operator<(const Event &other) const {
      return time < other.time || (time == other.time && actor < other.actor);
    }
  };

  void put(uint32_t at, const Event &event) {
    heap[at] = event;
    place[event.actor] = at;
  }
  void rise(uint32_t at) {
    const Event event = heap[at];
    for (uint32_t parent = 0; at > 0 && event < heap[parent = (at - 1) / Children]; at = parent)
      put(at, heap[parent]);
    put(at, event);
  }
  void sink(uint32_t at) {
    const Event event = heap[at];
    const auto size = static_cast<uint32_t>(heap.size());
    for (uint32_t first = at * Children + 1; first < size; first = at * Children + 1) {
      uint32_t least = first;
      for (uint32_t child = first + 1; child < size && child < first + Children; ++child)
        if (heap[child] < heap[least])
          least = child;
      if (!(heap[least] < event))
        break;
      put(at, heap[least]);
      at = least;
    }
    put(at, event);
  }

  std::vector<Event> heap;
  std::vector<uint32_t> place; ///< by actor: its position in the heap
};

} // namespace gc3::simulate
