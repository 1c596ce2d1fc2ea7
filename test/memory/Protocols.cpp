// SPDX-License-Identifier: Apache-2.0
#include "Protocols.h"

#include "Kernel.h"

namespace gc3::memory {

namespace {

/// Where the ranks of a connection are, and the scope of their messages (KernelArgs::peers).
struct Peers {
  const char *name;
  bool isOneGpu;
  Scope scope;

  uint32_t gpu(uint32_t rank) const { return isOneGpu ? 0 : rank; }
};
constexpr Peers inLaunch{"one launch", true, Scope::Gpu}, onGpus{"several GPUs", false, Scope::Sys},
    sharing{"two launches on a GPU", true, Scope::Sys};

/// Messages through two slots, one batch more than the slots hold. The receiver returns `batch` slots together, and the
/// sender polls once for each batch.
Program messages(const Peers &peers, int batch, Poll poll = Poll::Acquire) {
  Kernel k;
  k.poll = poll;
  const Block a = k.block("A", peers.gpu(0), 0), b = k.block("B", peers.gpu(1), 1);
  const Connection link = k.connection(peers.scope);
  const int last = link.slots + batch;
  for (int number = 1; number <= last; ++number)
    k.send(a, link, number, number == link.slots + 1);
  for (int number = 1; number <= last; ++number) {
    k.receive(b, link, number);
    k.endData(b);
    if (number == batch)
      k.giveSlots(b, link, number);
  }
  return k.take();
}

/// A message in each of two calls, through one slot. The receiver returns it at the end of the first call. Each block
/// is a new block in the second call.
Program calls(const Peers &peers) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), b = k.block("B", peers.gpu(1), 1);
  const Block again = k.block("A2", peers.gpu(0), 2), next = k.block("B2", peers.gpu(1), 3);
  const Connection link = k.connection(peers.scope, 1);
  k.send(a, link, 1, false);
  k.receive(b, link, 1);
  k.endData(b);
  k.barrier(b, "of storeCounters");
  k.giveSlots(b, link, 1);
  k.boundary(a.threads(), again.threads());
  k.boundary(b.threads(), next.threads());
  k.send(again, link, 2, true);
  k.receive(next, link, 2);
  return k.take();
}

/// A block writes, another waits and reads, and the first waits and writes again.
Program waits() {
  Kernel k;
  const Block a = k.block("A", 0, 0), b = k.block("B", 0, 1);
  const uint32_t x = k.address("buffer"), first = k.address("progressA"), second = k.address("progressB");
  k.store(a.mover, "data", x, 1);
  k.endData(a);
  k.publish(a, "progress", first, 1, Scope::Gpu);
  k.await(b, "progress", first, 1, Scope::Gpu);
  k.check(b.mover, "data", x, 1);
  k.endData(b);
  k.publish(b, "progress", second, 1, Scope::Gpu);
  k.await(a, "progress", second, 1, Scope::Gpu);
  k.store(a.leader, "data", x, 2);
  return k.take();
}

/// Rank A sends to rank B, whose block B1 stores the data locally. Block B2 waits for B1, then sends the data to C.
Program forwarding(const Peers &peers) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), first = k.block("B1", peers.gpu(1), 1),
              second = k.block("B2", peers.gpu(1), 2), c = k.block("C", peers.gpu(2), 3);
  const uint32_t slot = k.address("slotB"), arrived = k.address("arrivedB"), buffer = k.address("buffer"),
                 progress = k.address("progress"), slotC = k.address("slotC"), arrivedC = k.address("arrivedC");
  k.store(a.mover, "data", slot, 1);
  k.endData(a);
  k.publish(a, "arrived", arrived, 1, peers.scope);
  k.await(first, "arrived", arrived, 1, peers.scope);
  k.forward(first.mover, "data", buffer, k.load(first.mover, "data", slot, weak));
  k.endData(first);
  k.publish(first, "progress", progress, 1, Scope::Gpu);
  k.await(second, "progress", progress, 1, Scope::Gpu);
  k.forward(second.mover, "data", slotC, k.load(second.mover, "data", buffer, weak));
  k.endData(second);
  k.publish(second, "arrived", arrivedC, 1, peers.scope);
  k.await(c, "arrived", arrivedC, 1, peers.scope);
  k.check(c.mover, "data", slotC, 1);
  return k.take();
}

/// Rank A stores into the output of rank C. A chain orders C's earlier loads before: a message from C to B1, a wait
/// of B2 for B1, and a message from B2 to A. After a message from A, C and its next kernel load the output again.
Program direct(const Peers &peers) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), first = k.block("B1", peers.gpu(1), 1),
              second = k.block("B2", peers.gpu(1), 2), c = k.block("C", peers.gpu(2), 3);
  const uint32_t next = k.thread("next kernel of C", peers.gpu(2), 4);
  const uint32_t output = k.address("output"), toB = k.address("arrivedB"), progress = k.address("progress"),
                 toA = k.address("arrivedA"), toC = k.address("arrivedC");
  k.check(c.mover, "data", output, 0);
  k.endData(c);
  k.publish(c, "arrived", toB, 1, peers.scope);
  k.await(first, "arrived", toB, 1, peers.scope);
  k.endData(first);
  k.publish(first, "progress", progress, 1, Scope::Gpu);
  k.await(second, "progress", progress, 1, Scope::Gpu);
  k.endData(second);
  k.publish(second, "arrived", toA, 1, peers.scope);
  k.await(a, "arrived", toA, 1, peers.scope);
  k.store(a.mover, "data", output, 2);
  k.endData(a);
  k.publish(a, "arrived", toC, 1, peers.scope);
  k.await(c, "arrived", toC, 1, peers.scope);
  k.check(c.mover, "data", output, 2);
  k.boundary(c.threads(), {next});
  k.check(next, "data", output, 2);
  return k.take();
}

/// As direct(), but the first message of the chain is one of LL, which orders only its own data.
Program directAfterLL() {
  Kernel k;
  const Block a = k.block("A", 0, 0), b = k.block("B", 1, 1), c = k.block("C", 2, 2);
  const uint32_t output = k.address("output"), element = k.address("element"), toA = k.address("arrivedA");
  k.check(c.mover, "data", output, 0);
  k.store(c.mover, "C: element", element, 1, relaxed(Scope::Sys));
  k.load(b.leader, "B: element", element, relaxed(Scope::Sys), 1);
  k.endData(b);
  k.publish(b, "arrived", toA, 1, Scope::Sys);
  k.await(a, "arrived", toA, 1, Scope::Sys);
  k.store(a.mover, "data", output, 2);
  return k.take();
}

/// What two ranks of a connection use if they compare places: B's output, its counter of arrivals, and a place and a
/// number from each rank. Each block stores the version of its steps in shared memory.
struct Placed {
  uint32_t output, arrived, placeOfA, numberOfA, placeOfB, numberOfB;
};

Placed placed(Kernel &k) {
  return {k.address("output"),         k.address("arrived"),    k.address("place of A"),
          k.address("announced by A"), k.address("place of B"), k.address("announced by B")};
}

/// Stores the version of a block's steps, which its other threads read after the barrier.
void chooseSteps(Kernel &k, const Block &block, int version) {
  const uint32_t steps = k.address("shared steps of " + block.name);
  k.store(block.leader, "steps", steps, version);
  k.barrier(block, "of chooseSteps");
  k.check(block.mover, "steps", steps, version);
}

/// A call in which block `a` of rank A and block `b` of rank B compare places, and A then stores a message into B's
/// output. The call, the message and both places have the same number.
void directCall(Kernel &k, const Block &a, const Block &b, const Placed &at, int number, Scope scope) {
  k.announce(b, at.placeOfB, number, at.numberOfB, number, scope);
  k.awaitPlace(a, at.placeOfB, number, at.numberOfB, number, scope);
  k.announce(a, at.placeOfA, number, at.numberOfA, number, scope);
  chooseSteps(k, a, number);
  k.store(a.mover, "data", at.output, number);
  k.endData(a);
  k.publish(a, "arrived", at.arrived, number, scope);
  k.awaitPlace(b, at.placeOfA, number, at.numberOfA, number, scope);
  chooseSteps(k, b, number);
  k.await(b, "arrived", at.arrived, number, scope);
  k.check(b.mover, "data", at.output, number);
}

/// An earlier kernel of B stores and loads the output. After a call, a later kernel of B loads it.
Program places(const Peers &peers) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), b = k.block("B", peers.gpu(1), 1);
  const uint32_t earlier = k.thread("earlier kernel of B", peers.gpu(1), 2),
                 later = k.thread("later kernel of B", peers.gpu(1), 3);
  const Placed at = placed(k);
  k.store(earlier, "data", at.output, -1);
  k.check(earlier, "data", at.output, -1);
  k.boundary({earlier}, b.threads());
  directCall(k, a, b, at, 1, peers.scope);
  k.boundary(b.threads(), {later});
  k.check(later, "data", at.output, 1);
  return k.take();
}

/// Two calls. No slots are returned between them. So only the places, their numbers and the messages order the calls.
/// Each rank must read the places of the first call before the other rank overwrites them in the second.
Program placesOfCalls(const Peers &peers) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), b = k.block("B", peers.gpu(1), 1);
  const Block again = k.block("A2", peers.gpu(0), 2), next = k.block("B2", peers.gpu(1), 3);
  const Placed at = placed(k);
  directCall(k, a, b, at, 1, peers.scope);
  k.boundary(a.threads(), again.threads());
  k.boundary(b.threads(), next.threads());
  directCall(k, again, next, at, 2, peers.scope);
  return k.take();
}

/// LL: three messages of one element of 8 bytes, with data and flag, through two slots. The receiver polls the element
/// until it has the flag. A later step of the sender overwrites what the first message has read from a buffer.
Program lowLatency(const Peers &peers) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), b = k.block("B", peers.gpu(1), 1);
  const Connection link = k.connection(peers.scope);
  const uint32_t buffer = k.address("buffer");
  k.check(a.mover, "data", buffer, 0);
  for (int number = 1; number <= 3; ++number) {
    if (number > link.slots)
      k.await(a, "freed", link.out.freed, number - link.slots, peers.scope);
    k.store(a.moverOf(number), "A: element", link.out.slotOf(number), number, relaxed(Scope::Sys));
    if (number != 2)
      k.endData(a);
    else
      k.store(a.leader, "data", buffer, 1);
  }
  for (int number = 1; number <= 3; ++number) {
    k.check(b.moverOf(number), "B: element", link.in.slotOf(number), number, relaxed(Scope::Sys), number);
    k.endData(b);
    if (number == 1)
      k.giveSlots(b, link, number);
  }
  return k.take();
}

/// LL128: the leaders are lanes 7, which store and poll the flag of a line. The movers are lanes 0. Two messages use
/// one slot. If `isOrdered`, the flag arrives after the data, and the receiver's last load of the data comes after the
/// load that found the flag. Only the hardware guarantees this. A later step overwrites what the first has read.
Program line128(bool isOrdered) {
  Kernel k;
  const Block a = k.block("A", 0, 0), b = k.block("B", 1, 1);
  const uint32_t data = k.address("data"), flag = k.address("flag"), freed = k.address("freed"),
                 buffer = k.address("buffer");
  const std::string last = "assumed: the flag arrives last", vote = "assumed: loads after the vote are later";
  k.check(a.mover, "data", buffer, 0);
  for (int number = 1; number <= 2; ++number) {
    if (number == 2)
      k.await(a, "freed", freed, 1, Scope::Sys);
    k.Builder::barrier({a.mover, a.leader}, "A: __syncwarp");
    k.store(a.mover, "A: data", data, number, relaxed(Scope::Sys));
    if (isOrdered) {
      k.Builder::barrier({a.mover, a.leader}, last);
      k.fence(a.leader, last, Scope::Sys);
    }
    k.store(a.leader, "A: flag", flag, number, relaxed(Scope::Sys));
    if (number == 1) {
      k.endData(a);
      k.store(a.poller, "data", buffer, 1);
    }
  }
  for (int number = 1; number <= 2; ++number) {
    k.check(b.leader, "B: flag", flag, number, relaxed(Scope::Sys), number);
    if (isOrdered) {
      k.fence(b.leader, vote, Scope::Sys);
      k.Builder::barrier({b.mover, b.leader}, vote);
    }
    k.check(b.mover, "B: data", data, number, relaxed(Scope::Sys));
    k.endData(b);
    if (number == 1)
      k.publish(b, "freed", freed, number, Scope::Sys);
  }
  return k.take();
}

/// The host requests a stop. A lane reports what it waited for, and the leader publishes that the block ends (2).
Program stop() {
  Kernel k;
  const Block a = k.block("A", 0, 0);
  const uint32_t watchdog = k.thread("host", host, 0);
  const uint32_t word = k.address("stop"), report = k.address("report"), running = k.address("running");
  k.publish(a, "running, begin", running, 1, Scope::Sys);
  k.load(watchdog, "host: load of running, begin", running, acquire(Scope::Sys), 1);
  k.store(watchdog, "host: stop", word, 1, relaxed(Scope::Sys));
  k.load(a.poller, "A: load of stop", word, relaxed(Scope::Sys), 1);
  k.store(a.poller, "report", report, 1);
  k.barrier(a, "after polls");
  k.publish(a, "running, end", running, 2, Scope::Sys);
  k.load(watchdog, "host: load of running, end", running, acquire(Scope::Sys), 2);
  k.check(watchdog, "report", report, 1);
  return k.take();
}

/// The counters of a block in two calls, and its record and steps in shared memory.
Program counters(bool hasSteps) {
  Kernel k;
  const Block a = k.block("A", 0, 0), next = k.block("A2", 0, 1);
  const uint32_t tiles = k.address("tiles"), record = k.address("shared block"), step = k.address("shared step"),
                 freed = k.address("shared freed");
  k.store(a.leader, "record", record, 1);
  k.barrier(a, "of loadBlock");
  for (const uint32_t thread : a.threads()) {
    k.check(thread, "record", record, 1);
    k.check(thread, "counter", tiles, 0);
  }
  for (int number = 1; hasSteps && number <= 2; ++number) {
    k.store(a.mover, "step", step, number);
    k.barrier(a, "of loadSteps");
    k.check(a.leader, "step", step, number); // of a step without dependencies, then of one that needs a slot
    k.endData(a);
    k.store(a.poller, "freed", freed, number);
    k.barrier(a, "after polls");
    k.check(a.leader, "step", step, number);
    k.check(a.mover, "freed", freed, number);
    k.endData(a);
  }
  k.barrier(a, "of storeCounters");
  k.store(a.leader, "counter", tiles, 1);
  k.boundary(a.threads(), next.threads());
  for (const uint32_t thread : next.threads())
    k.check(thread, "counter", tiles, 1);
  return k.take();
}

/// Where fence.proxy.alias stands, if anywhere, and what has two addresses.
struct Aliases {
  bool sender, receiver, counters, scFences;
};

/// Three messages through two slots which the ranks access at different addresses.
Program aliased(const Peers &peers, const Aliases &aliases) {
  Kernel k;
  const Block a = k.block("A", peers.gpu(0), 0), b = k.block("B", peers.gpu(1), 1);
  Connection link = k.connection(peers.scope);
  for (size_t slot = 0; slot < link.in.slots.size(); ++slot)
    link.in.slots[slot] = k.alias("own slot" + std::to_string(slot), link.out.slots[slot]);
  if (aliases.counters) {
    link.in.arrived = k.alias("own arrived", link.out.arrived);
    link.in.freed = k.alias("peer's freed", link.out.freed);
  }
  const auto await = [&](const Block &block, const std::string &what, uint32_t counter, int least) {
    k.load(block.poller, block.name + ": poll of " + what, counter, acquire(peers.scope), least);
    if (block.poller == a.poller ? aliases.sender : aliases.receiver)
      k.aliasFence(block.poller, block.name + ": alias fence after the poll");
    if (aliases.scFences) {
      k.fence(block.poller, block.name + ": fence.sc after the poll", peers.scope, Order::Sc);
      k.aliasFence(block.poller, block.name + ": alias fence after fence.sc");
    }
    k.barrier(block, "after polls");
  };
  const auto publish = [&](const Block &block, const std::string &what, uint32_t counter, int value) {
    if (aliases.scFences) {
      k.fence(block.leader, block.name + ": fence before " + what, peers.scope, Order::Sc);
      k.aliasFence(block.leader, block.name + ": alias fence before " + what);
      k.store(block.leader, block.name + ": " + what, counter, value, relaxed(peers.scope));
    } else {
      k.publish(block, what, counter, value, peers.scope);
    }
  };
  for (int number = 1; number <= 3; ++number) {
    if (number > link.slots)
      await(a, "freed", link.out.freed, number - link.slots);
    k.store(a.moverOf(number), "data", link.out.slotOf(number), number);
    k.endData(a);
    publish(a, "arrived", link.out.arrived, number);
  }
  for (int number = 1; number <= 3; ++number) {
    await(b, "arrived", link.in.arrived, number);
    k.check(b.moverOf(number), "data", link.in.slotOf(number), number);
    k.endData(b);
    if (number == 1)
      publish(b, "freed", link.in.freed, number);
  }
  return k.take();
}

} // namespace

std::vector<Protocol> protocols() {
  std::vector<Protocol> all;
  const auto add = [&](std::string name, std::string models, Program program, bool hasTable = true) {
    all.push_back({std::move(name), std::move(models), std::move(program), hasTable});
  };
  for (const Peers &peers : {inLaunch, onGpus}) {
    const std::string where = std::string(", ") + peers.name;
    const bool hasTable = !peers.isOneGpu; // the tables of one launch differ only in their scopes
    add("Simple" + where, "Simple.h; Interpreter.h: runStep", messages(peers, 1), hasTable);
    add("Simple, batches" + where, "Interpreter.h: publicationOf, returnSlots", messages(peers, 2), false);
    add("Simple, two calls" + where, "Interpreter.h: storeCounters", calls(peers), hasTable);
    add("forwarding" + where, "Interpreter.h: runStep", forwarding(peers), hasTable);
    add("Direct" + where, "ProgramImage.h: fillDirect; Interpreter.h: runStep", direct(peers), hasTable);
    add("LL" + where, "LowLatency.h", lowLatency(peers), hasTable);
  }
  add("Direct, places", "Interpreter.h: comparePlaces", places(onGpus)); // one launch compares none
  add("Direct, places of two calls", "Interpreter.h: comparePlaces", placesOfCalls(onGpus));
  add("Direct, chain with a message of LL", "not used", directAfterLL());
  add("waits", "Interpreter.h: dependency, publish", waits());
  add("stop", "Interpreter.h: publishRunning, reportStop; Watchdog.h", stop());
  add("counters", "Interpreter.h: loadBlock, loadSteps, poll, storeCounters", counters(true));
  add("counters, no steps", "Interpreter.h: loadBlock, storeCounters", counters(false));
  add("LL128, order of the link", "LL128.h", line128(true));
  add("LL128, no assumption", "LL128.h", line128(false));
  add("relaxed polls, then a fence", "Wait.h: await", messages(onGpus, 1, Poll::RelaxedThenFence), false);
  add("relaxed polls, then an acquire", "Wait.h: await", messages(onGpus, 1, Poll::RelaxedThenAcquire), false);
  add("Simple, two launches on a GPU", "Simple.h; Interpreter.h: runStep", messages(sharing, 1), false);
  add("aliases of slots", "Window.h: resolve", aliased(onGpus, {false, false, false, false}));
  add("aliases of slots, alias fences of receivers", "", aliased(onGpus, {false, true, false, false}));
  add("aliases of slots, alias fences after polls", "", aliased(onGpus, {true, true, false, false}));
  add("aliases of counters, too", "Window.h: resolve", aliased(onGpus, {true, true, true, false}));
  add("aliases of counters, too, fence.sc", "", aliased(onGpus, {true, true, true, true}));
  return all;
}

} // namespace gc3::memory
