// SPDX-License-Identifier: Apache-2.0
// Tests that the interposer records the windows of the application. In large calls, messages then need no slots.
#include "Front.h"

#include <array>

using namespace gc3::test;
using gc3::kernel::Place;

namespace {

class Windows : public Front {
protected:
  static constexpr size_t count = size_t{1} << 17; ///< an AllGather of two ranks has 1 MiB
  static constexpr size_t bytes = 3 * count * sizeof(float);

  Windows() {
    for (size_t rank = 0; rank < 2; ++rank) {
      FakeCuda::currentDevice = static_cast<int>(rank);
      void *allocated = nullptr;
      EXPECT_EQ(application<signature::MemAlloc>("MemAlloc")(&allocated, bytes), Result::Success);
      memory.push_back(static_cast<float *>(allocated));
    }
  }
  ~Windows() override {
    for (float *window : memory)
      application<signature::MemFree>("MemFree")(window);
  }

  Result registerWindow(size_t rank, Comm comm) {
    return ncclCommWindowRegister(comm, memory[rank], bytes, &windows[rank], 0);
  }
  void registerAll(const Comms &comms) {
    EXPECT_EQ(inGroup(2, [&](size_t rank) { return registerWindow(rank, comms[rank]); }), Result::Success);
  }
  void deregisterAll(const Comms &comms) {
    for (size_t rank = 0; rank < 2; ++rank)
      EXPECT_EQ(ncclCommWindowDeregister(comms[rank], windows[rank]), Result::Success);
  }

  /// Makes an AllGather from and to the memory of the windows, and checks the result. Returns the places of the receive
  /// buffers.
  std::array<Place, 2> gather(const Comms &comms) {
    for (size_t rank = 0; rank < 2; ++rank)
      for (size_t i = 0; i < count; ++i)
        memory[rank][i] = static_cast<float>(rank * count + i), memory[rank][count + 2 * i] = 0;
    EXPECT_EQ(inGroup(2,
                      [&](size_t rank) {
                        return ncclAllGather(memory[rank], memory[rank] + count, count, DataType::Float32, comms[rank],
                                             streams[rank]);
                      }),
              Result::Success);
    EXPECT_TRUE(areIdle());
    for (float *received : memory)
      for (size_t i = 0; i < 2 * count; ++i)
        if (received[count + i] != static_cast<float>(i)) {
          ADD_FAILURE() << "element " << i;
          break;
        }
    const auto place = [&](size_t rank) {
      return cuda.callOn.at(reinterpret_cast<gc3::cuda::Stream>(streams[rank])).place;
    };
    return {place(0), place(1)};
  }

  std::vector<float *> memory; ///< by rank
  std::array<gc3::ncclapi::Window, 2> windows{};
};

void expectSamePlace(const std::array<Place, 2> &places) {
  EXPECT_GT(places[0], Place::Nowhere);
  EXPECT_EQ(places[0], places[1]);
}
constexpr std::array nowhere{Place::Nowhere, Place::Nowhere}, notCompared{Place::NotCompared, Place::NotCompared};

TEST_F(Windows, AreUsedUntilTheyAreDeregistered) {
  for (bool hasJoined : {false, true}) {
    const Comms comms = hasJoined ? makeJoined() : make();
    EXPECT_EQ(gather(comms), notCompared);
    registerAll(comms);
    expectSamePlace(gather(comms));
    deregisterAll(comms);
    EXPECT_EQ(gather(comms), nowhere);
  }
}

TEST_F(Windows, CanBeRegisteredBeforeTheFirstCall) {
  const Comms comms = make();
  onEachRank(2, [&](size_t rank) { EXPECT_EQ(registerWindow(rank, comms[rank]), Result::Success); });
  expectSamePlace(gather(comms));
  deregisterAll(comms);
}

/// All ranks give the windows of one group the same numbers.
TEST_F(Windows, KeepTheirOrderInAGroup) {
  constexpr size_t others = 20;
  std::array<std::array<void *, others>, 2> allocated{};
  std::array<std::array<gc3::ncclapi::Window, others>, 2> handles{};
  for (size_t rank = 0; rank < 2; ++rank)
    for (void *&each : allocated[rank]) {
      FakeCuda::currentDevice = static_cast<int>(rank);
      EXPECT_EQ(application<signature::MemAlloc>("MemAlloc")(&each, 1), Result::Success);
    }
  const Comms comms = make();
  const auto registerSome = [&](size_t rank) {
    for (size_t i = 0; i < others; ++i) {
      if (i == others / 2) {
        EXPECT_EQ(registerWindow(rank, comms[rank]), Result::Success);
      }
      EXPECT_EQ(ncclCommWindowRegister(comms[rank], allocated[rank][i], 1, &handles[rank][i], 0), Result::Success);
    }
    return Result::Success;
  };
  EXPECT_EQ(inGroup(2, registerSome), Result::Success);
  const std::array<Place, 2> places = gather(comms);
  expectSamePlace(places);
  EXPECT_EQ(static_cast<uint64_t>(places[0]) >> 48, others / 2 + 1); // the window's number, from 1
  deregisterAll(comms);
  for (size_t rank = 0; rank < 2; ++rank)
    for (size_t i = 0; i < others; ++i) {
      EXPECT_EQ(ncclCommWindowDeregister(comms[rank], handles[rank][i]), Result::Success);
      application<signature::MemFree>("MemFree")(allocated[rank][i]);
    }
}

TEST_F(Windows, BelongToOneCommunicator) {
  const Comms comms = make(), others = make();
  registerAll(comms);
  EXPECT_EQ(gather(others), notCompared);
  deregisterAll(comms);
}

/// A registration can fail on one rank only. So it counts on all ranks: they all compare places.
TEST_F(Windows, CountIfTheirRegistrationFails) {
  const Comms comms = make();
  nccl.fail("CommWindowRegister", Result::InvalidArgument);
  EXPECT_EQ(registerWindow(0, comms[0]), Result::InvalidArgument);
  nccl.fail("CommWindowRegister", Result::InvalidArgument);
  EXPECT_EQ(registerWindow(1, comms[1]), Result::InvalidArgument);
  EXPECT_EQ(gather(comms), nowhere);
}

/// gc3 does not know the handle while NCCL still registers the window.
TEST_F(Windows, OfNonBlockingCommunicatorsCount) {
  const Comms comms = make(2, false);
  for (size_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(registerWindow(rank, comms[rank]), Result::InProgress);
  for (Comm comm : comms)
    awaitThat([&] { return stateOf(comm) == Result::Success; });
  EXPECT_EQ(gather(comms), nowhere);
  deregisterAll(comms);
}

TEST_F(Windows, CountIfNcclSupportsNone) {
  nccl.windows = FakeNccl::Windows::OneTeam;
  const Comms comms = make();
  nccl.teamSize = 1;
  registerAll(comms);
  EXPECT_EQ(windows[0], nullptr);
  nccl.teamSize = 0;
  EXPECT_EQ(gather(comms), nowhere);
}

} // namespace
