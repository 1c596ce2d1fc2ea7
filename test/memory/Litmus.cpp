// SPDX-License-Identifier: Apache-2.0
// The verdicts follow from the axioms of the PTX ISA. Most shapes are also in the tests of "A Formal Analysis of the
// NVIDIA PTX Memory Consistency Model" (Lustig et al., ASPLOS 2019), and those with aliases in the tests of
// "Mixed-Proxy Extensions for the NVIDIA PTX Memory Consistency Model" (Lustig et al., ISCA 2022).
#include "Litmus.h"

namespace gc3::memory {

namespace {

constexpr const char *isa = "PTX ISA", *asplos = "ASPLOS 2019", *isca = "ISCA 2022";

/// Threads and addresses of a litmus test. Each thread is in its own block of GPU 0, unless placed otherwise.
struct Shape : Builder {
  uint32_t x = address("x"), y = address("y");

  uint32_t on(uint32_t gpu, uint32_t block) { return thread("P" + std::to_string(threads++), gpu, block); }
  uint32_t next() { return on(0, threads); }
  void write(uint32_t at, uint32_t to, int value, Strength strength) { store(at, "", to, value, strength); }
  void read(uint32_t at, uint32_t from, int value, Strength strength) { load(at, "", from, strength, value, value); }
  void sync(uint32_t at, Scope scope, Order order = Order::AcqRel) { fence(at, "", scope, order); }

  uint32_t threads = 0;
};

/// Message passing through accesses `st` and `ld` of y. If `fences`, with a fence on each side.
Program messagePassing(uint32_t receiverGpu, uint32_t receiverBlock, Strength st, Strength ld, bool fences,
                       Scope scope) {
  Shape s;
  const uint32_t a = s.on(0, 0), b = s.on(receiverGpu, receiverBlock);
  s.write(a, s.x, 1, weak);
  if (fences)
    s.sync(a, scope);
  s.write(a, s.y, 1, st);
  s.read(b, s.y, 1, ld);
  if (fences)
    s.sync(b, scope);
  s.read(b, s.x, 0, weak);
  return s.take();
}

Program storeBuffering(uint32_t secondBlock, bool fences, Scope scope, Order order) {
  Shape s;
  const Strength access = relaxed(Scope::Gpu);
  const uint32_t a = s.on(0, 0), b = s.on(0, secondBlock);
  s.write(a, s.x, 1, access);
  s.write(b, s.y, 1, access);
  if (fences)
    s.sync(a, scope, order), s.sync(b, scope, order);
  s.read(a, s.y, 0, access);
  s.read(b, s.x, 0, access);
  return s.take();
}

/// Load buffering. If `isCopy`, each thread stores what it has read, so the outcome comes out of thin air.
Program loadBuffering(bool fences, bool isCopy) {
  Shape s;
  const Strength access = relaxed(Scope::Gpu);
  for (const bool second : {false, true}) {
    const uint32_t a = s.next();
    const uint32_t loaded = s.load(a, "", second ? s.y : s.x, access, 1, 1);
    if (fences)
      s.sync(a, Scope::Gpu);
    if (isCopy)
      s.forward(a, "", second ? s.x : s.y, loaded, access);
    else
      s.write(a, second ? s.x : s.y, 1, access);
  }
  return s.take();
}

/// Independent reads of independent writes.
Program independentReads(bool fences, Order order) {
  Shape s;
  const Strength access = relaxed(Scope::Gpu);
  s.write(s.next(), s.x, 1, access);
  s.write(s.next(), s.y, 1, access);
  for (const bool second : {false, true}) {
    const uint32_t a = s.next();
    s.read(a, second ? s.y : s.x, 1, access);
    if (fences)
      s.sync(a, Scope::Gpu, order);
    s.read(a, second ? s.x : s.y, 0, access);
  }
  return s.take();
}

Program twoReads(Strength st, Strength ld) {
  Shape s;
  s.write(s.next(), s.x, 1, st);
  const uint32_t b = s.next();
  s.read(b, s.x, 1, ld);
  s.read(b, s.x, 0, ld);
  return s.take();
}

/// A write, which a second thread reads before it signals a third. The threads are in blocks of GPUs 0, `second` and
/// `third`.
Program causalityChain(bool startsStrong, Scope scope, uint32_t second, uint32_t third) {
  Shape s;
  const uint32_t a = s.on(0, 0), b = s.on(second, 1), c = s.on(third, 2);
  const Strength plain = startsStrong ? relaxed(Scope::Sys) : weak;
  s.write(a, s.x, 1, plain);
  s.read(b, s.x, 1, plain);
  s.write(b, s.y, 1, release(scope));
  s.read(c, s.y, 1, acquire(scope));
  s.read(c, s.x, 0, plain);
  return s.take();
}

/// ISA2: a message, then a second one from its receiver, with the scopes of each.
Program relay(Scope first, Scope second, uint32_t gpuOfSecond, uint32_t gpuOfThird) {
  Shape s;
  const uint32_t z = s.address("z");
  const uint32_t a = s.on(0, 0), b = s.on(gpuOfSecond, 1), c = s.on(gpuOfThird, 2);
  s.write(a, s.x, 1, weak);
  s.write(a, s.y, 1, release(first));
  s.read(b, s.y, 1, acquire(first));
  s.write(b, z, 1, release(second));
  s.read(c, z, 1, acquire(second));
  s.read(c, s.x, 0, weak);
  return s.take();
}

/// Message passing where a barrier joins the thread that writes and the one that signals.
Program barrierMessage(bool joinsSender, bool joinsReceiver) {
  Shape s;
  const uint32_t a = s.on(0, 0), leader = s.on(0, 0), lane = s.on(0, 1), b = s.on(0, 1);
  s.write(a, s.x, 1, weak);
  if (joinsSender)
    s.barrier({a, leader}, "");
  s.sync(leader, Scope::Gpu);
  s.write(leader, s.y, 1, relaxed(Scope::Gpu));
  s.read(lane, s.y, 1, acquire(Scope::Gpu));
  if (joinsReceiver)
    s.barrier({lane, b}, "");
  s.read(b, s.x, 0, weak);
  return s.take();
}

Program kernels(bool isOrdered) {
  Shape s;
  const uint32_t a = s.on(0, 0), b = s.on(0, 1);
  s.write(a, s.x, 1, weak);
  if (isOrdered)
    s.boundary({a}, {b});
  s.read(b, s.x, 0, weak);
  return s.take();
}

/// A barrier before a write, after a read by another thread, which reads this write.
Program readOfFuture(bool hasBarrier) {
  Shape s;
  const uint32_t a = s.on(0, 0), b = s.on(0, 0);
  s.read(a, s.x, 1, weak);
  if (hasBarrier)
    s.barrier({a, b}, "");
  s.write(b, s.x, 1, weak);
  return s.take();
}

enum class Alias { Unfenced, Sender, Receiver, Late, Flag };

/// Message passing where the receiver reads the data through an alias, or the flag.
Program aliased(Alias kind) {
  Shape s;
  const uint32_t other = s.alias("other", kind == Alias::Flag ? s.y : s.x);
  const uint32_t a = s.on(0, 0), b = s.on(0, 1);
  s.write(a, s.x, 1, weak);
  if (kind == Alias::Sender || kind == Alias::Flag)
    s.aliasFence(a, "");
  s.write(a, s.y, 1, release(Scope::Gpu));
  s.read(b, kind == Alias::Flag ? other : s.y, 1, acquire(Scope::Gpu));
  if (kind == Alias::Receiver || kind == Alias::Flag)
    s.aliasFence(b, "");
  s.read(b, kind == Alias::Flag ? s.x : other, 0, weak);
  if (kind == Alias::Late)
    s.aliasFence(b, "");
  return s.take();
}

/// A thread that writes an address and reads its alias.
Program ownAlias(bool isFenced) {
  Shape s;
  const uint32_t other = s.alias("other", s.x), a = s.next();
  s.write(a, s.x, 1, weak);
  if (isFenced)
    s.aliasFence(a, "");
  s.read(a, other, 0, weak);
  return s.take();
}

/// A release of y, then a relaxed write of y, which the receiver reads before a fence.
Program releaseThenWrite() {
  Shape s;
  const uint32_t a = s.next(), b = s.next();
  s.write(a, s.x, 1, weak);
  s.write(a, s.y, 1, release(Scope::Gpu));
  s.write(a, s.y, 2, relaxed(Scope::Gpu));
  s.read(b, s.y, 2, relaxed(Scope::Gpu));
  s.sync(b, Scope::Gpu);
  s.read(b, s.x, 0, weak);
  return s.take();
}

/// Two writes of each address, where each thread ends with the first value of the other's (2+2W).
Program twoWrites(Strength strength, bool fences) {
  Shape s;
  for (const bool second : {false, true}) {
    const uint32_t a = s.next();
    s.write(a, second ? s.y : s.x, 2, strength);
    if (fences)
      s.sync(a, Scope::Gpu, Order::Sc);
    s.write(a, second ? s.x : s.y, 1, strength);
  }
  const uint32_t c = s.next(), d = s.next();
  s.read(c, s.x, 1, relaxed(Scope::Gpu));
  s.read(c, s.x, 2, relaxed(Scope::Gpu));
  s.read(d, s.y, 1, relaxed(Scope::Gpu));
  s.read(d, s.y, 2, relaxed(Scope::Gpu));
  return s.take();
}

} // namespace

std::vector<Litmus> litmusTests() {
  constexpr Scope cta = Scope::Cta, gpu = Scope::Gpu, sys = Scope::Sys;
  return {
      {"MP, weak", true, asplos, messagePassing(0, 1, weak, weak, false, gpu)},
      {"MP, relaxed", true, asplos, messagePassing(0, 1, relaxed(gpu), relaxed(gpu), false, gpu)},
      {"MP, release and acquire", false, asplos, messagePassing(0, 1, release(gpu), acquire(gpu), false, gpu)},
      {"MP, release and relaxed", true, asplos, messagePassing(0, 1, release(gpu), relaxed(gpu), false, gpu)},
      {"MP, relaxed and acquire", true, asplos, messagePassing(0, 1, relaxed(gpu), acquire(gpu), false, gpu)},
      {"MP, fences", false, asplos, messagePassing(0, 1, relaxed(gpu), relaxed(gpu), true, gpu)},
      {"MP, fences, weak flag", true, asplos, messagePassing(0, 1, weak, weak, true, gpu)},
      {"MP, weak read of flag", true, asplos, messagePassing(0, 1, release(gpu), weak, false, gpu)},
      {"MP.cta in one block", false, asplos, messagePassing(0, 0, release(cta), acquire(cta), false, cta)},
      {"MP.cta in two blocks", true, asplos, messagePassing(0, 1, release(cta), acquire(cta), false, cta)},
      {"MP.cta to .gpu in one block", false, asplos, messagePassing(0, 0, release(cta), acquire(gpu), false, gpu)},
      {"MP.cta to .gpu in two blocks", true, asplos, messagePassing(0, 1, release(cta), acquire(gpu), false, gpu)},
      {"MP.gpu on two GPUs", true, asplos, messagePassing(1, 0, release(gpu), acquire(gpu), false, gpu)},
      {"MP.sys on two GPUs", false, asplos, messagePassing(1, 0, release(sys), acquire(sys), false, sys)},
      {"MP, fence.cta in two blocks", true, asplos, messagePassing(0, 1, relaxed(sys), relaxed(sys), true, cta)},
      {"MP, release, then a relaxed write", false, isca, releaseThenWrite()},
      {"SB, no fences", true, asplos, storeBuffering(1, false, gpu, Order::Sc)},
      {"SB, fence.sc", false, asplos, storeBuffering(1, true, gpu, Order::Sc)},
      {"SB, fence.acq_rel", true, asplos, storeBuffering(1, true, gpu, Order::AcqRel)},
      {"SB, fence.sc.cta in one block", false, asplos, storeBuffering(0, true, cta, Order::Sc)},
      {"SB, fence.sc.cta in two blocks", true, asplos, storeBuffering(1, true, cta, Order::Sc)},
      {"LB, relaxed", true, asplos, loadBuffering(false, false)},
      {"LB, fences", false, asplos, loadBuffering(true, false)},
      {"LB, copies (thin air)", false, asplos, loadBuffering(false, true)},
      {"IRIW, relaxed", true, asplos, independentReads(false, Order::Sc)},
      {"IRIW, fence.acq_rel", true, asplos, independentReads(true, Order::AcqRel)},
      {"IRIW, fence.sc", false, asplos, independentReads(true, Order::Sc)},
      {"2+2W, relaxed", true, isa, twoWrites(relaxed(gpu), false)},
      {"2+2W, fence.sc", false, isa, twoWrites(relaxed(gpu), true)},
      {"CoRR, weak", true, isa, twoReads(weak, weak)},
      {"CoRR, relaxed", false, isa, twoReads(relaxed(gpu), relaxed(gpu))},
      {"CoRR, relaxed.cta in two blocks", true, isa, twoReads(relaxed(cta), relaxed(cta))},
      {"WRC, strong", false, asplos, causalityChain(true, gpu, 0, 0)},
      {"WRC, weak", true, asplos, causalityChain(false, gpu, 0, 0)},
      {"WRC.gpu on two GPUs", true, asplos, causalityChain(true, gpu, 0, 1)},
      {"ISA2, .gpu", false, asplos, relay(gpu, gpu, 0, 0)},
      {"ISA2, .gpu then .sys, third on another GPU", false, asplos, relay(gpu, sys, 0, 1)},
      {"ISA2, .sys then .gpu, first on another GPU", false, asplos, relay(sys, gpu, 1, 1)},
      {"ISA2, .gpu then .gpu, third on another GPU", true, asplos, relay(gpu, gpu, 0, 1)},
      {"MP across two barriers", false, asplos, barrierMessage(true, true)},
      {"MP without the sender's barrier", true, asplos, barrierMessage(false, true)},
      {"MP without the receiver's barrier", true, asplos, barrierMessage(true, false)},
      {"read of a later write, barrier", false, isa, readOfFuture(true)},
      {"read of a later write, no barrier", true, isa, readOfFuture(false)},
      {"two kernels in a stream", false, isa, kernels(true)},
      {"two unordered kernels", true, isa, kernels(false)},
      {"alias, one thread", true, isca, ownAlias(false)},
      {"alias, one thread, fence", false, isca, ownAlias(true)},
      {"alias, MP", true, isca, aliased(Alias::Unfenced)},
      {"alias, MP, fence in the sender", false, isca, aliased(Alias::Sender)},
      {"alias, MP, fence in the receiver", false, isca, aliased(Alias::Receiver)},
      {"alias, MP, fence too late", true, isca, aliased(Alias::Late)},
      {"alias of the flag, MP, fences in both", true, isa, aliased(Alias::Flag)},
  };
}

} // namespace gc3::memory
