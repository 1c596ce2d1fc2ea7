// SPDX-License-Identifier: Apache-2.0
// A small concurrent program in the terms of the PTX memory model: threads with placed scopes, and events in program
// order. A poll is a load that is assumed to have read the value for which it waits, so programs have no loops.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gc3::memory {

enum class Scope : uint8_t { Cta, Gpu, Sys };
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel, Sc };
enum class Kind : uint8_t {
  Load,
  Store,
  Fence,
  AliasFence, ///< fence.proxy.alias
  Barrier,    ///< bar.sync: joins the events of one `group` in a thread block
  End,        ///< the end of a thread in a kernel; synchronizes with each Begin of the same `group`
  Begin,      ///< the start of a thread in a later kernel of the stream
};

/// A thread of a block on a GPU. Threads of the host have the GPU `host`.
struct Thread {
  std::string name;
  uint32_t gpu;
  uint32_t block;
};
inline constexpr uint32_t host = 255;

/// A virtual address. Addresses with the same location are aliases.
struct Address {
  std::string name;
  uint32_t location;
};

inline constexpr uint32_t none = ~0U;
inline constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();

/// An event. Memory holds 0 at first. A load is assumed to read a value in [least, most]. If `isChecked`, it must read
/// `value`. A store stores `value`, or what the load `source` has read.
struct Event {
  Kind kind = Kind::Load;
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  uint32_t thread = 0;
  std::string label; ///< the name by which a mutant changes this event, with all others of the same name
  uint32_t address = none;
  uint32_t group = none;
  int value = 0;
  uint32_t source = none;
  int least = lowest, most = highest;
  bool isChecked = false;

  bool isMemory() const { return kind == Kind::Load || kind == Kind::Store; }
  /// A poll waits for a value, so all later events of its thread depend on it.
  bool isPoll() const { return kind == Kind::Load && least != lowest && most == highest; }
  bool isStrong() const { return order != Order::Weak; }
};

/// Events of one thread are in program order.
struct Program {
  std::vector<Thread> threads;
  std::vector<Address> addresses;
  std::vector<Event> events;

  uint32_t locationOf(const Event &event) const { return addresses[event.address].location; }
  /// Returns whether the scope of an event includes a thread.
  bool includes(const Event &event, uint32_t thread) const;
};

/// The order and the scope of an access.
struct Strength {
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
};
inline constexpr Strength weak{};
constexpr Strength relaxed(Scope scope) {
  return {Order::Relaxed, scope};
}
constexpr Strength acquire(Scope scope) {
  return {Order::Acquire, scope};
}
constexpr Strength release(Scope scope) {
  return {Order::Release, scope};
}

/// Appends threads, addresses and events to a program. The functions that add a thread, an address or a load return its
/// number.
class Builder {
public:
  uint32_t thread(std::string name, uint32_t gpu, uint32_t block);
  uint32_t address(std::string name);
  uint32_t alias(std::string name, uint32_t of);
  /// Returns a number for the events of one barrier, or of one boundary between kernels.
  uint32_t group() { return groups++; }

  void store(uint32_t thread, std::string label, uint32_t address, int value, Strength strength = weak);
  /// Stores the value that a load has read.
  void forward(uint32_t thread, std::string label, uint32_t address, uint32_t load, Strength strength = weak);
  /// A load that is assumed to read a value in [least, most].
  uint32_t load(uint32_t thread, std::string label, uint32_t address, Strength strength, int least = lowest,
                int most = highest);
  /// A load that must read `value`. It is assumed to read at least `least`.
  uint32_t check(uint32_t thread, std::string label, uint32_t address, int value, Strength strength = weak,
                 int least = lowest);
  void fence(uint32_t thread, std::string label, Scope scope, Order order = Order::AcqRel);
  void aliasFence(uint32_t thread, std::string label);
  /// A barrier of threads of one block.
  void barrier(const std::vector<uint32_t> &threads, const std::string &label);
  /// The end of a kernel, after which a later one begins.
  void boundary(const std::vector<uint32_t> &ending, const std::vector<uint32_t> &beginning);

  Program take() { return std::move(program); }

private:
  Event &add(Kind kind, uint32_t thread, std::string label);

  Program program;
  uint32_t groups = 0;
};

/// Returns the event in the notation of PTX, for example `st.relaxed.gpu slot0, 1`.
std::string textOf(const Program &program, const Event &event);
/// Returns the name of an operation, without its operands.
std::string nameOf(const Event &event);

} // namespace gc3::memory
