// SPDX-License-Identifier: Apache-2.0
// A network between "hosts" that are in one process. It delays what it carries at random, and reads the data of
// sendInPlace() as late as it may. So a slot that is used too early is a wrong result.
#pragma once

#include "host/Transport.h"
#include "host/Wire.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <random>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

namespace gc3::test {

class FakeNetwork {
public:
  explicit FakeNetwork(uint64_t seed) : random(seed) {}

  struct Packet {
    host::HeaderImage header;
    std::vector<std::byte> data;
  };
  /// Returns true with a probability of 1 / `of`.
  bool chance(unsigned of) { return random() % of == 0; }

  std::mutex mutex;                                                    ///< guards all other members
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Packet>> carried; ///< by sending and receiving process
  std::map<uint32_t, int> events;                                      ///< by process
  std::map<uint32_t, std::string> cut;                                 ///< lost processes, with the reasons
private:
  std::mt19937_64 random;
};

class FakeWire final : public host::Wire {
public:
  FakeWire(FakeNetwork &used, uint32_t process) : network(used), self(process), descriptor(::eventfd(0, EFD_NONBLOCK)) {
    const std::lock_guard lock(network.mutex);
    network.events[self] = descriptor;
  }
  ~FakeWire() override {
    const std::lock_guard lock(network.mutex);
    network.events.erase(self);
    ::close(descriptor);
  }

  Bytes address() const override { return {reinterpret_cast<const std::byte *>(&self), sizeof self}; }
  core::Outcome connect(uint32_t process, Bytes address) override {
    uint32_t named = 0;
    std::memcpy(&named, address.data(), std::min(address.size(), sizeof named));
    EXPECT_EQ(named, process);
    return {};
  }
  void send(uint32_t process, const host::WireHeader &header, Bytes data) override {
    waiting.push_back({process, host::writeHeader(header), {data.begin(), data.end()}, {}, nullptr});
  }
  void sendInPlace(uint32_t process, const host::WireHeader &header, Bytes data, uint64_t &completed) override {
    waiting.push_back({process, host::writeHeader(header), {}, data, &completed});
  }
  bool progress(Receiver &receiver) override {
    uint64_t ignored = 0;
    (void)!::read(descriptor, &ignored, sizeof ignored);
    std::unique_lock lock(network.mutex);
    while (!waiting.empty() && !network.chance(4))
      transmit();
    std::vector<FakeNetwork::Packet> arrived;
    for (auto &[ends, packets] : network.carried)
      while (ends.second == self && !packets.empty() && !network.chance(4)) {
        arrived.push_back(std::move(packets.front()));
        packets.pop_front();
      }
    const std::map<uint32_t, std::string> lost = network.cut;
    lock.unlock();
    for (const FakeNetwork::Packet &packet : arrived)
      receiver.receive(std::as_bytes(std::span(&packet.header, 1)), packet.data);
    for (const auto &[process, reason] : lost)
      receiver.lose(process, reason);
    return !arrived.empty();
  }
  void beginFlush() override { flushed = sent + waiting.size(); }
  bool isFlushed() const override { return sent >= flushed; }
  bool arm() override {
    const std::lock_guard lock(network.mutex);
    return waiting.empty() && std::ranges::none_of(network.carried, [this](const auto &entry) {
             return entry.first.second == self && !entry.second.empty();
           });
  }
  int event() const override { return descriptor; }
  void close() override { waiting.clear(); }

private:
  struct Waiting {
    uint32_t process;
    host::HeaderImage header;
    std::vector<std::byte> copy;
    Bytes inPlace;
    uint64_t *completed;
  };
  void transmit() {
    Waiting &next = waiting.front();
    if (next.completed) {
      next.copy.assign(next.inPlace.begin(), next.inPlace.end());
      ++*next.completed;
    }
    network.carried[{self, next.process}].push_back({next.header, std::move(next.copy)});
    if (const auto event = network.events.find(next.process); event != network.events.end()) {
      const uint64_t one = 1;
      (void)!::write(event->second, &one, sizeof one);
    }
    waiting.pop_front();
    ++sent;
  }

  FakeNetwork &network;
  const uint32_t self;
  const int descriptor;
  std::deque<Waiting> waiting;
  uint64_t sent = 0, flushed = 0;
};

} // namespace gc3::test
