// SPDX-License-Identifier: Apache-2.0
// The engine of the tests.
#include "FakeEngine.h"

#include "FakeNccl.h"
#include "shim/Exports.h"

#include <cstdio>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace gc3::nccl {

namespace test {

static void print(const char *event) {
  std::printf("engine %s\n", event);
  std::fflush(stdout);
}

FakeEngineControl &fakeEngine() {
  static FakeEngineControl control{.sink = print};
  return control;
}

} // namespace test

namespace {

void happened(const std::string &event) {
  test::fakeEngine().sink.load()(event.c_str());
}

/// Of a call whose operation multiplies, by what.
std::string factorOf(const CollectiveCall &call) {
  if (!call.preMulSum)
    return "";
  char digits[32];
  const auto &[bits, address] = call.preMulSum->factor;
  std::snprintf(digits, sizeof digits, address ? " by *0x%zx" : " by 0x%zx",
                address ? reinterpret_cast<size_t>(address) : static_cast<size_t>(bits));
  return digits;
}

class FakeAttachment : public Attachment {
public:
  explicit FakeAttachment(const Member &member) : member(member), name(test::commName(member.comm)) {}
  ~FakeAttachment() override {
    happened((aborted ? "forget " : "detach ") + name);
    if (!aborted && member.isAborted && *member.isAborted) // meanwhile
      happened("leave " + name);
  }

  Decision serves(const CollectiveCall &call) const override {
    if (call.count % 2)
      return {-1, "an odd count"};
    return {7, "even_program"};
  }

  Result run(const CollectiveCall &call, int32_t program) {
    if (aborted || broken)
      return Result::InternalError;
    if (test::fakeEngine().talks)
      ncclBcast(nullptr, 2, DataType::Int8, 0, member.comm, nullptr);
    happened("run " + std::to_string(program) + ' ' + describe(call, member.ranks) + factorOf(call) + " on " + name);
    return test::fakeEngine().runResult;
  }

  void drain() override {
    if (test::fakeEngine().runs)
      happened("drain " + name);
    while (!aborted && test::fakeEngine().runs)
      std::this_thread::yield();
  }

  void giveBack() override {
    if (!test::fakeEngine().hasMemory)
      throw std::bad_alloc();
    if (!aborted && test::fakeEngine().holds)
      happened("give back " + name);
    while (!aborted && test::fakeEngine().holds)
      std::this_thread::yield();
  }

  bool abort() override {
    aborted = true;
    happened("abort " + name);
    return test::fakeEngine().revokes;
  }

  void breakDown(const std::string &) override {
    broken = true;
    happened("break " + name);
  }

  Comm comm() const { return member.comm; }
  Result asyncError() const override {
    if (const auto asked = std::exchange(test::fakeEngine().whileAsked, nullptr))
      asked();
    return test::fakeEngine().asyncError;
  }

private:
  const Member member;
  const std::string name;
  std::atomic<bool> aborted{false}, broken{false};
};

class FakeEngine : public Engine {
public:
  Patience patience() const override { return test::fakeEngine().patience; }
  std::string refusal() const override { return test::fakeEngine().refusal; }
  bool isCaptured(Stream stream) const override {
    if (stream)
      happened("look at a stream");
    return stream && test::fakeEngine().captures;
  }
  std::function<void()> elsewhere(std::function<void()> work) const override {
    if (!test::fakeEngine().hasThreads)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return work;
  }
  void aside(const Attachment *, const std::function<void()> &work) const override {
    if (test::fakeEngine().hasAside)
      std::thread(work).detach();
    else
      work();
  }
  std::vector<Attached> attach(std::span<const Member> members) override {
    if (!test::fakeEngine().hasMemory)
      throw std::bad_alloc();
    std::vector<Attached> attached;
    std::string event = "attach";
    const std::string name = test::commName(members.front().comm); // which may be gone behind an abort
    for (const Member &member : members) {
      event +=
          ' ' + test::commName(member.comm) + '=' + std::to_string(member.rank) + '/' + std::to_string(member.ranks);
      if (member.ranks == 3)
        attached.push_back({nullptr, "three ranks"});
      else
        attached.push_back({std::make_shared<FakeAttachment>(member), ""});
    }
    if (test::fakeEngine().talks)
      exchange(members);
    happened(event);
    if (const AbortFlag &aborted = members.front().isAborted; aborted && *aborted)
      happened("stop attaching " + name);
    return attached;
  }

  void load(const Work &work) override {
    happened("load for " + test::commName(static_cast<FakeAttachment *>(work.attachment)->comm()));
  }

  Result run(std::span<const Work> works) override {
    if (!test::fakeEngine().hasMemory)
      throw std::bad_alloc();
    if (works.size() > 1)
      happened("together " + std::to_string(works.size()));
    Result first = Result::Success;
    for (const Work &work : works)
      if (Result result = static_cast<FakeAttachment *>(work.attachment)->run(work.call, work.program);
          first == Result::Success)
        first = result;
    return first;
  }

private:
  static void exchange(std::span<const Member> members) {
    ncclGroupStart();
    for (const Member &member : members)
      ncclAllGather(nullptr, nullptr, 2, DataType::Int8, member.comm, nullptr);
    ncclGroupEnd();
  }
};

} // namespace

std::unique_ptr<Engine> makeEngine(Bundles &&) {
  return std::make_unique<FakeEngine>();
}

} // namespace gc3::nccl
