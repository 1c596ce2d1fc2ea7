// SPDX-License-Identifier: Apache-2.0
// Implements fibers with ucontext. Informs the sanitizers of each switch between stacks.
#include "Fibers.h"

#include <cassert>
#include <cstdint>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define GC3_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define GC3_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GC3_ASAN 1
#elif __has_feature(thread_sanitizer)
#define GC3_TSAN 1
#endif
#endif
#ifdef GC3_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef GC3_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gc3::test {

namespace {
constexpr size_t stackBytes = 64 << 10;
}

/// A point of execution with its own stack, to which a thread can switch.
struct Fibers::Context {
  ucontext_t place{};
  const void *stack = nullptr;
  size_t bytes = 0;
  void *fake = nullptr; ///< fake stack of the address sanitizer
#ifdef GC3_TSAN
  void *fiber = nullptr;
#endif

  /// Switches to `other`. Returns when a fiber switches back to this context. If `forGood`, no fiber does.
  void changeTo(Context &other, [[maybe_unused]] bool forGood) {
#ifdef GC3_ASAN
    __sanitizer_start_switch_fiber(forGood ? nullptr : &fake, other.stack, other.bytes);
#endif
#ifdef GC3_TSAN
    fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(other.fiber, 0);
#endif
    swapcontext(&place, &other.place);
    arrived(other);
  }
  void arrived([[maybe_unused]] Context &from) {
#ifdef GC3_ASAN
    __sanitizer_finish_switch_fiber(fake, &from.stack, &from.bytes);
#endif
  }
};

struct Fibers::Fiber {
  Context context;
  std::function<void()> body;
  std::unique_ptr<std::byte[]> stack{new std::byte[stackBytes]};
  Context *resumer = nullptr;
  bool ended = false;

#ifdef GC3_TSAN
  Fiber() {
    context.fiber = __tsan_create_fiber(0);
  }
  ~Fiber() {
    __tsan_destroy_fiber(context.fiber);
  }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
#endif
};

Fibers::Fibers() : outside(new Context) {}
Fibers::~Fibers() = default;

void Fibers::add(std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->body = std::move(body);
  fiber->context.stack = fiber->stack.get();
  fiber->context.bytes = stackBytes;
  getcontext(&fiber->context.place);
  fiber->context.place.uc_stack.ss_sp = fiber->stack.get();
  fiber->context.place.uc_stack.ss_size = stackBytes;
  fiber->resumer = outside.get();
  auto address = reinterpret_cast<uintptr_t>(fiber.get());
  makecontext(&fiber->context.place, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  fibers.push_back(std::move(fiber));
}

/// Runs a fiber from its beginning. The parameters are the halves of the fiber's address: makecontext only passes ints.
void Fibers::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<Fiber *>(uintptr_t{high} << 32 | low);
  self->context.arrived(*self->resumer);
  self->body();
  self->ended = true;
  self->context.changeTo(*self->resumer, true);
}

size_t Fibers::count() const {
  return fibers.size();
}

bool Fibers::ended(size_t number) const {
  return fibers[number]->ended;
}

bool Fibers::resume(size_t number) {
  Fiber &fiber = *fibers[number];
  if (fiber.ended)
    return false;
  assert(!running && "resumed from within a fiber");
  running = &fiber;
  outside->changeTo(fiber.context, false);
  running = nullptr;
  return true;
}

void Fibers::suspend() {
  Fiber *self = running;
  self->context.changeTo(*self->resumer, false);
}

} // namespace gc3::test
