// SPDX-License-Identifier: Apache-2.0
// Tests of communicators that do not block: what makes them, and what happens at their first call.
#pragma once

#include "Front.h"
#include "nccl/Communicators.h"

#include <algorithm>
#include <thread>

namespace gc3::nccl::test {

class Nonblocking : public Front {
protected:
  ~Nonblocking() override {
    fakeNcclAsyncError(Result::Success);
    fakeEngine().patience = {};
    fakeEngine().captures = fakeEngine().runs = false;
    fakeEngine().hasThreads = true;
    for (Comm comm : made) // so that nobody asks NCCL about them in the next test
      if (Communicators::table().find(comm))
        ncclCommDestroy(comm);
  }

  Comm make(int ranks = 4, int rank = 2) {
    Comm comm = nullptr;
    Config config{sizeof(Config), 0, 0, 0};
    fakeNcclFail("CommInitRankConfig", Result::InProgress);
    EXPECT_EQ(ncclCommInitRankConfig(&comm, ranks, {}, rank, &config), Result::InProgress);
    EXPECT_EQ(take().size(), 1u) << "nothing but NCCL's";
    made.push_back(comm);
    return comm;
  }
  std::vector<Comm> made;

  /// What becomes of the next split: nothing, until somebody sets CommGetAsyncError.
  static void holdSplit() {
    fakeNcclFail("CommSplit", Result::InProgress);
    fakeNcclSink([](const char *event) {
      note(event);
      if (event == std::string("CommSplit(c0, 0, 2, config)"))
        fakeNcclAsyncError(Result::InProgress);
    });
  }

  /// Until it has happened, what has.
  static Events takeUntil(const std::string &last) {
    Events events;
    while (std::find(events.begin(), events.end(), last) == events.end()) {
      for (std::string &event : take())
        events.push_back(std::move(event));
      std::this_thread::yield();
    }
    return events;
  }

  static inline const std::string served = "run 7 AllReduce 8 B float sum on c1";
  static Events after(Events events, const Events &more) {
    events.insert(events.end(), more.begin(), more.end());
    return events;
  }

  static inline const Events split{"CommGetAsyncError(c0)", "CommSplit(c0, 0, 2, config)", "CommGetAsyncError(c0)"};
  static inline const Events taken = after(split, {"attach c1=2/4"});
  static inline const Events loaded = after(taken, {"load for c1"});
};

} // namespace gc3::nccl::test
