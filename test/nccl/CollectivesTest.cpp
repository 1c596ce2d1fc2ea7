// SPDX-License-Identifier: Apache-2.0
// Tests each collective: either a program runs the call, or NCCL gets it with the same arguments and the application
// gets NCCL's result.
#include "Front.h"
#include "ncclapi/CollectiveCall.h"

#include <algorithm>
#include <new>

using namespace gc3::test;

namespace {

using Floats = std::vector<float>;

class Collectives : public Front {
protected:
  /// A call of a collective on two ranks. The root is rank 1.
  struct Case {
    const char *name;
    std::function<Result(size_t rank, size_t count, Comm comm)> call;
    std::string rest; ///< text between the type and the communicator in the call's event
    /// Returns the data that ranks 0 and 1 receive if they send `first` and `second`; empty if the buffer is unchanged.
    std::function<std::array<Floats, 2>(const Floats &first, const Floats &second)> received;
  };
  static constexpr int root = 1;
  static constexpr auto type = DataType::Float32;
  static constexpr auto whole = [](const Floats &of) { return Floats(of.begin(), of.begin() + few); };
  static constexpr auto half = [](const Floats &of, size_t rank) {
    return Floats(of.begin() + static_cast<std::ptrdiff_t>(rank * few),
                  of.begin() + static_cast<std::ptrdiff_t>(rank * few + few));
  };
  static constexpr auto joined = [](Floats first, const Floats &second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  static constexpr auto combined = [](Floats first, const Floats &second, auto combine) {
    std::transform(first.begin(), first.end(), second.begin(), first.begin(), combine);
    return first;
  };
  static constexpr auto largest = [](float x, float y) { return std::max(x, y); };
  using Two = std::array<Floats, 2>;

  const std::vector<Case> cases{
      {"AllGather",
       [this](size_t r, size_t n, Comm c) { return ncclAllGather(send[r], recv[r], n, type, c, streams[r]); }, "",
       [](const Floats &x, const Floats &y) {
         return Two{joined(whole(x), whole(y)), joined(whole(x), whole(y))};
       }},
      {"AllReduce",
       [this](size_t r, size_t n, Comm c) {
         return ncclAllReduce(send[r], recv[r], n, type, RedOp::Max, c, streams[r]);
       },
       "2, ",
       [](const Floats &x, const Floats &y) {
         const Floats all = combined(whole(x), whole(y), largest);
         return Two{all, all};
       }},
      {"AlltoAll",
       [this](size_t r, size_t n, Comm c) { return ncclAlltoAll(send[r], recv[r], n, type, c, streams[r]); }, "",
       [](const Floats &x, const Floats &y) {
         return Two{joined(half(x, 0), half(y, 0)), joined(half(x, 1), half(y, 1))};
       }},
      {"Broadcast",
       [this](size_t r, size_t n, Comm c) { return ncclBroadcast(send[r], recv[r], n, type, root, c, streams[r]); },
       "1, ",
       [](const Floats &, const Floats &y) {
         return Two{whole(y), whole(y)};
       }},
      {"Gather",
       [this](size_t r, size_t n, Comm c) { return ncclGather(send[r], recv[r], n, type, root, c, streams[r]); }, "1, ",
       [](const Floats &x, const Floats &y) {
         return Two{Floats{}, joined(whole(x), whole(y))};
       }},
      {"Reduce",
       [this](size_t r, size_t n, Comm c) {
         return ncclReduce(send[r], recv[r], n, type, RedOp::Prod, root, c, streams[r]);
       },
       "1, 1, ",
       [](const Floats &x, const Floats &y) {
         return Two{Floats{}, combined(whole(x), whole(y), std::multiplies<>())};
       }},
      {"ReduceScatter",
       [this](size_t r, size_t n, Comm c) {
         return ncclReduceScatter(send[r], recv[r], n, type, RedOp::Sum, c, streams[r]);
       },
       "0, ",
       [](const Floats &x, const Floats &y) {
         return Two{combined(half(x, 0), half(y, 0), std::plus<>()), combined(half(x, 1), half(y, 1), std::plus<>())};
       }},
      {"Scatter",
       [this](size_t r, size_t n, Comm c) { return ncclScatter(send[r], recv[r], n, type, root, c, streams[r]); },
       "1, ",
       [](const Floats &, const Floats &y) {
         return Two{half(y, 0), half(y, 1)};
       }},
  };

  void expectReceived(const Case &of) {
    ASSERT_TRUE(areIdle()) << of.name;
    Two wanted = of.received(sent(0), sent(1));
    for (size_t rank = 0; rank < 2; ++rank) {
      wanted[rank].resize(room);
      EXPECT_EQ(Floats(recv[rank], recv[rank] + room), wanted[rank]) << of.name << ", rank " << rank;
    }
    fill();
  }
};

} // namespace

TEST_F(Collectives, ProgramsRunThem) {
  const Comms comms = make();
  for (const Case &of : cases) {
    EXPECT_EQ(inGroup(2, [&](size_t rank) { return of.call(rank, few, comms[rank]); }), Result::Success);
    EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "run 0", "run 1"}));
    expectReceived(of);
  }
  for (const Case &of : cases) { // all programs are loaded, so each rank can use its own thread
    onEachRank(2, [&](size_t rank) { EXPECT_EQ(of.call(rank, few, comms[rank]), Result::Success); });
    expectReceived(of);
  }
}

TEST_F(Collectives, NcclGetsTheOthersAsTheyAre) {
  const Comms comms = makeJoined();
  for (const Case &of : cases) {
    const Events event{std::string(of.name) + "(send1, recv1, 1000, 7, " + of.rest + "c1, stream1)"};
    EXPECT_EQ(of.call(1, many, comms[1]), Result::Success);
    EXPECT_EQ(takeEvents(), event);
    failNext(of.name, Result::RemoteError);
    EXPECT_EQ(of.call(1, many, comms[1]), Result::RemoteError);
    EXPECT_EQ(takeEvents(), event);
  }
  EXPECT_EQ(nccl.takeProbes(), Events{}) << "nothing else";
}

TEST_F(Collectives, BcastReachesNcclOnce) {
  const Comms comms = makeJoined();
  const auto call = [&](size_t count, int root) {
    return inGroup(2, [&](size_t rank) {
      return ncclBcast(send[rank], count, DataType::Float32, root, comms[rank], streams[rank]);
    });
  };
  const std::vector<float> ofRoot(send[1], send[1] + few);
  EXPECT_EQ(call(few, 1), Result::Success);
  EXPECT_EQ(takeEvents(), (Events{"GroupStart()", "GroupEnd()", "run 0", "run 1"}));
  EXPECT_EQ(std::vector<float>(send[0], send[0] + few), ofRoot);
  for (int root : {1, 2}) {
    EXPECT_EQ(call(root == 1 ? many : few, root), Result::Success);
    const Events events = takeEvents();
    const std::string rest = root == 1 ? "1000, 7, 1, " : "4, 7, 2, ";
    EXPECT_EQ(events, (Events{"GroupStart()", "Broadcast(send0, send0, " + rest + "c0, stream0)",
                              "Broadcast(send1, send1, " + rest + "c1, stream1)", "GroupEnd()"}));
  }
}

// A call fails on one rank. Other ranks may already run the call with a program, so gc3 does not forward it to NCCL.
// All later calls of the rank return the error.
TEST_F(Collectives, NcclGetsNoCallThatFails) {
  const Comms comms = makeJoined();
  failCalls("CUDA launch", 0);
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(allReduce(0, comms[0], few), Result::UnhandledCudaError);
  EXPECT_EQ(takeEvents(), Events{"run 0"});
  EXPECT_EQ(stateOf(comms[0]), Result::UnhandledCudaError);
  EXPECT_EQ(stateOf(comms[1]), Result::Success);
}

TEST_F(Collectives, ExceptionsAreResults) {
  for (bool grouped : {false, true}) {
    const Comms comms = makeJoined();
    before([caller = std::this_thread::get_id()](int, const std::string &, uint64_t) {
      if (std::this_thread::get_id() == caller)
        throw std::bad_alloc();
    });
    EXPECT_EQ(grouped ? ncclGroupStart() : Result::Success, Result::Success);
    EXPECT_EQ(allReduce(0, comms[0], few), grouped ? Result::Success : Result::SystemError);
    EXPECT_EQ(grouped ? ncclGroupEnd() : Result::SystemError, Result::SystemError);
    before(nullptr);
    EXPECT_EQ(stateOf(comms[0]), Result::SystemError) << "other ranks can run the call";
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::Success) << "nothing is left of the failed group";
  }
}

TEST_F(Collectives, NeverServed) {
  const Comms comms = makeJoined();
  Comm comm = comms[0];
  const auto isForwarded = [&](Result result) {
    const Events events = takeEvents();
    return result == Result::Success && events.size() == 1 && events[0].find('(') != std::string::npos;
  };
  float *in = send[0], *out = recv[0];
  Stream s = streams[0];
  for (int type : {-1, 12, 1 << 30})
    EXPECT_TRUE(isForwarded(ncclAllGather(in, out, 2, static_cast<DataType>(type), comm, s))) << type;
  for (int op : {-1, 5, 0x7fffffff}) {
    EXPECT_TRUE(isForwarded(ncclAllReduce(in, out, 2, DataType::Int8, static_cast<RedOp>(op), comm, s))) << op;
    EXPECT_TRUE(isForwarded(ncclReduceScatter(in, out, 2, DataType::Int8, static_cast<RedOp>(op), comm, s))) << op;
    EXPECT_TRUE(isForwarded(ncclReduce(in, out, 2, DataType::Int8, static_cast<RedOp>(op), 1, comm, s))) << op;
  }
  for (int root : {-1, 2}) {
    EXPECT_TRUE(isForwarded(ncclBroadcast(in, out, 2, DataType::Int8, root, comm, s))) << root;
    EXPECT_TRUE(isForwarded(ncclGather(in, out, 2, DataType::Int8, root, comm, s))) << root;
    EXPECT_TRUE(isForwarded(ncclScatter(in, out, 2, DataType::Int8, root, comm, s))) << root;
    EXPECT_TRUE(isForwarded(ncclReduce(in, out, 2, DataType::Int8, RedOp::Sum, root, comm, s))) << root;
  }
  EXPECT_TRUE(isForwarded(allReduce(0, comm, 0))) << "no elements";
  EXPECT_TRUE(isForwarded(ncclBroadcast(in, out, 2, DataType::Int8, 0, comm, s))) << "the program has another root";
  EXPECT_TRUE(isForwarded(allReduce(0, make(1)[0], few))) << "one rank";
  EXPECT_EQ(allReduce(0, nullptr, few), Result::InvalidArgument) << "NCCL refuses it";
}

TEST(Describe, SizesAreThoseThatProgramsAreChosenBy) {
  using gc3::ncclapi::CollectiveCall;
  CollectiveCall call{Collective::ReduceScatter,
                      nullptr,
                      nullptr,
                      size_t{3} << 19,
                      DataType::Bfloat16,
                      RedOp::Min,
                      -1,
                      nullptr,
                      nullptr};
  EXPECT_EQ(describe(call, 512), "ReduceScatter 1.5 GiB bfloat16 min");
  call = {Collective::AllGather, nullptr, nullptr, SIZE_MAX / 2, DataType::Float64, RedOp::Sum, -1, nullptr, nullptr};
  EXPECT_EQ(describe(call, 2), "AllGather at least 16 EiB double");
  call = {Collective::Reduce,    nullptr, nullptr, 1000,   static_cast<DataType>(99),
          static_cast<RedOp>(6), 1,       nullptr, nullptr};
  EXPECT_EQ(describe(call, 2), "Reduce 1000 of type 99 op 6 root 1");
  EXPECT_EQ(unsupportedReason(call, 2), "unknown type");
  call.type = DataType::Uint8;
  EXPECT_EQ(describe(call, 2), "Reduce 1000 B uint8 op 6 root 1");
  EXPECT_EQ(unsupportedReason(call, 2), "unknown operation");
  call.preMulSum = {gc3::core::ElementType::Uint8, {}};
  EXPECT_EQ(describe(call, 2), "Reduce 1000 B uint8 premulsum root 1");
  EXPECT_EQ(unsupportedReason(call, 2), "");
  call.type = DataType::Int8;
  EXPECT_EQ(unsupportedReason(call, 2), "an operation of another type");
  call.preMulSum.reset();
  call.op = RedOp::Sum;
  EXPECT_EQ(unsupportedReason(call, 2), "");
  EXPECT_EQ(unsupportedReason(call, 1), "one rank");
}
