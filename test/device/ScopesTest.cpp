// SPDX-License-Identifier: Apache-2.0
// Tests which accesses the emulated GPU refuses. A launch of one block has a connection to another launch.
#include "Gpu.h"

#include <gtest/gtest.h>

using namespace gc3;
using namespace gc3::test;
using kernel::Protocol;
using kernel::Scope;

namespace {

/// The memory of a launch, and what its threads do.
class Launched {
public:
  explicit Launched(Protocol protocol) : protocol(protocol) {
    block.progress = &progress;
    block.out = {slots, arrived, freed, &sent, nullptr};
    call.blocks = &block;
    call.stop = &stop;
    call.slots = 2;
    call.slotBytes = sizeof slots / 2;
  }

  /// Runs `body` in 32 threads. Returns the message of the first Violation, or "fine".
  std::string run(const std::function<void(Gpu::Machine &)> &body) {
    Scopes scopes(call, protocol, 1);
    std::string said = "fine";
    Gpu gpu(kernel::warpLanes, 1);
    gpu.add({1,
             [&](Gpu::Machine &machine) {
               machine.check(scopes);
               try {
                 body(machine);
               } catch (const Violation &violation) {
                 said = said == "fine" ? violation.what() : said;
               }
             },
             &stop});
    gpu.run();
    return said;
  }

  alignas(128) std::byte slots[512]{};
  uint64_t progress = 0, sent = 0;
  uint64_t arrived[kernel::announcementWord + 1]{}, freed[kernel::announcementWord + 1]{};
  uint32_t stop = 0;

private:
  const Protocol protocol;
  kernel::BlockImage block{};
  kernel::KernelArgs call{};
};

std::byte *bytesOf(void *at) {
  return static_cast<std::byte *>(at);
}

bool leads(const Gpu::Machine &machine) {
  return machine.thread() == 0;
}

} // namespace

TEST(Scopes, weakAccesses) {
  const std::string counter = "a weak access to a counter or to the stop word";
  Launched simple(Protocol::Simple);
  for (uint64_t *each : {&simple.progress, &simple.arrived[0], &simple.freed[0],
                         &simple.arrived[kernel::announcementWord], &simple.freed[kernel::announcementWord]}) {
    EXPECT_EQ(simple.run([&](Gpu::Machine &machine) { machine.load<8>(bytesOf(each)); }), counter);
    EXPECT_EQ(simple.run([&](Gpu::Machine &machine) { machine.store<1>(bytesOf(each) + 7, 0); }), counter);
  }
  EXPECT_EQ(simple.run([&](Gpu::Machine &machine) { machine.load<4>(bytesOf(&simple.stop)); }), counter);
  EXPECT_EQ(simple.run([&](Gpu::Machine &machine) { machine.load<8>(bytesOf(&simple.sent)); }), "fine");
  EXPECT_EQ(simple.run([&](Gpu::Machine &machine) { machine.load<16>(simple.slots + 496); }), "fine");
  for (Protocol protocol : {Protocol::LL, Protocol::LL128}) {
    Launched launched(protocol);
    for (uint32_t offset : {0, 496})
      EXPECT_EQ(launched.run([&](Gpu::Machine &machine) { machine.load<16>(launched.slots + offset); }),
                "a weak access to a message with flags");
  }
}

TEST(Scopes, lines) {
  const std::string nowhere = "an access to a line of a message that is not there";
  Launched simple(Protocol::Simple), lowLatency(Protocol::LL), lines(Protocol::LL128);
  EXPECT_EQ(simple.run([&](Gpu::Machine &machine) { machine.loadFlagged(simple.slots); }), nowhere);
  EXPECT_EQ(lowLatency.run([&](Gpu::Machine &machine) { machine.loadFlagged(lowLatency.slots); }), "fine");
  EXPECT_EQ(lowLatency.run([&](Gpu::Machine &machine) { machine.loadLine(lowLatency.slots); }), nowhere);
  EXPECT_EQ(lines.run([&](Gpu::Machine &machine) { machine.loadLine(lines.slots); }), "fine");
  EXPECT_EQ(lines.run([&](Gpu::Machine &machine) { machine.loadLine(lines.slots + 512); }), nowhere);
}

TEST(Scopes, countersAndFences) {
  Launched launched(Protocol::Simple);
  const auto publish = [&](uint64_t *at, Scope fence, Scope scope) {
    return launched.run([&, at](Gpu::Machine &machine) {
      if (leads(machine)) {
        machine.fence(fence);
        machine.publish(at, 1, scope);
      }
    });
  };
  EXPECT_EQ(publish(&launched.progress, Scope::Gpu, Scope::Gpu), "fine");
  EXPECT_EQ(publish(launched.arrived, Scope::System, Scope::System), "fine");
  EXPECT_EQ(publish(launched.arrived, Scope::System, Scope::Gpu),
            "the scope is too narrow or too wide for this counter");
  EXPECT_EQ(publish(launched.arrived, Scope::Gpu, Scope::System),
            "no fence since the block's last barrier: another thread could see this value before the data");
  EXPECT_EQ(publish(&launched.sent, Scope::Gpu, Scope::Gpu), "an access to an unknown counter");
  EXPECT_EQ(launched.run([&](Gpu::Machine &machine) { machine.acquire(launched.freed, Scope::Gpu); }),
            "the scope is too narrow or too wide for this counter");
  EXPECT_EQ(launched.run([&](Gpu::Machine &machine) { machine.loadStopWord(&launched.stop + 1); }),
            "this address is not that of the stop word");
}

/// The number of an announcement is a counter between ranks. The place before it is weak data.
TEST(Scopes, announcements) {
  Launched launched(Protocol::Simple);
  for (uint64_t *counter : {launched.arrived, launched.freed}) {
    const auto announce = [&](Scope fence, Scope scope) {
      return launched.run([&](Gpu::Machine &machine) {
        if (leads(machine)) {
          machine.store<8>(bytesOf(counter + kernel::placeWord), 1);
          machine.fence(fence);
          machine.publish(counter + kernel::announcementWord, 1, scope);
        }
      });
    };
    EXPECT_EQ(announce(Scope::System, Scope::System), "fine");
    EXPECT_EQ(announce(Scope::System, Scope::Gpu), "the scope is too narrow or too wide for this counter");
    EXPECT_EQ(announce(Scope::Gpu, Scope::System),
              "no fence since the block's last barrier: another thread could see this value before the data");
    EXPECT_EQ(
        launched.run([&](Gpu::Machine &machine) { machine.acquire(counter + kernel::announcementWord, Scope::Gpu); }),
        "the scope is too narrow or too wide for this counter");
    EXPECT_EQ(launched.run([&](Gpu::Machine &machine) { machine.acquire(counter + kernel::placeWord, Scope::System); }),
              "an access to an unknown counter");
  }
}

TEST(Scopes, convergence) {
  Launched launched(Protocol::LL128);
  const auto place = [&](Gpu::Machine &machine) { return launched.slots + machine.thread() * sizeof(kernel::Pack); };
  EXPECT_EQ(launched.run([&](Gpu::Machine &machine) { machine.storeLine(true, place(machine), {}); }), "fine");
  EXPECT_EQ(launched.run([&](Gpu::Machine &machine) {
    machine.warpSync();
    machine.storeConverged(place(machine), {});
    machine.storeConverged(place(machine), {});
  }),
            "the lanes of the line have not converged before this store");
  EXPECT_EQ(launched.run([&](Gpu::Machine &machine) {
    leads(machine) ? machine.warpSync() : static_cast<void>(machine.warpAll(true));
  }),
            "lanes of the warp wait at another instruction");
  EXPECT_EQ(launched.run([&](Gpu::Machine &machine) {
    leads(machine) ? machine.barrier() : static_cast<void>(machine.barrierAny(true));
  }),
            "threads of the block wait at a barrier of the other kind");
}
