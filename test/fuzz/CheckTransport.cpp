// SPDX-License-Identifier: Apache-2.0
#include "CheckTransport.h"

#include "api/RemoteAnnouncement.h"
#include "host/Memory.h"
#include "host/Transport.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gc3::test {

namespace {

constexpr uint32_t slots = 2;
constexpr uint64_t perCall = 1000;
constexpr size_t slotBytes = 64;

/// Receives one frame at a time, and forgets what is sent.
class FrameWire final : public host::Wire {
public:
  explicit FrameWire(std::span<const std::byte> &shared) : frame(shared) {}
  Bytes address() const override { return {}; }
  core::Outcome connect(uint32_t, Bytes) override { return {}; }
  void send(uint32_t, const host::WireHeader &, Bytes) override {}
  void sendInPlace(uint32_t, const host::WireHeader &, Bytes, uint64_t &completed) override { ++completed; }
  bool progress(Receiver &receiver) override {
    const Bytes arrived = std::exchange(frame, {});
    const size_t headerBytes = std::min(arrived.size(), sizeof(host::HeaderImage));
    if (!arrived.empty())
      receiver.receive(arrived.first(headerBytes), arrived.subspan(headerBytes));
    return !arrived.empty();
  }
  void beginFlush() override {}
  bool isFlushed() const override { return true; }
  bool arm() override { return false; }
  int event() const override { return -1; }
  void close() override {}

private:
  std::span<const std::byte> &frame;
};

class Announced final : public host::Transport::Announcements {
public:
  explicit Announced(uint32_t &count) : accepted(count) {}
  bool receive(uint32_t, uint64_t, std::span<const std::byte> data) override {
    const bool isValid = api::readAnnouncement(data, last);
    accepted += isValid;
    if (isValid && (last.request.read().name.size() > api::RequestRecord::mostNameBytes ||
                    api::writeAnnouncement(last).size() > data.size()))
      problem = "an announcement is out of range";
    return isValid;
  }
  std::string problem;

private:
  uint32_t &accepted;
  api::Announcement last{};
};

/// Rank 0, which sends on connection 0 to rank 1 of another host, and receives on connection 1.
class Host {
public:
  explicit Host(uint32_t &accepted) : accepted(accepted), announced(accepted) {
    memory.reserve(2 * (sizeof(host::Fifo) + slots * slotBytes));
    fifos = new (memory.data()) host::Fifo[2];
    for (uint32_t i = 0; i < 2; ++i)
      fifos[i].place((2 - i) * sizeof(host::Fifo) + i * slots * slotBytes, slotBytes, slots);
    mirror.call = 1;
    mirror.outgoing.push_back({&fifos[0], 0, 1, perCall, std::vector<uint64_t>(slots)});
    mirror.incoming.push_back({&fifos[1], 1, 1, perCall});
    transport.setAnnouncements(announced);
    const std::vector<uint8_t> address = transport.address();
    std::memcpy(&token, address.data(), sizeof token);
  }

  void receive(std::span<const uint8_t> bytes) {
    const std::span<const std::byte> raw = std::as_bytes(bytes);
    std::vector<std::byte> copy(raw.begin(), raw.end());
    constexpr size_t at = offsetof(host::HeaderImage, token);
    if (uint64_t own = 0; copy.size() >= at + sizeof own) {
      std::memcpy(&own, copy.data() + at, sizeof own);
      own = own == 0 ? token : own;
      std::memcpy(copy.data() + at, &own, sizeof own);
    }
    frame = copy;
    transport.progress();
  }
  /// Does what a rank does in a call.
  void work(uint64_t number) {
    if (number == 2)
      transport.attach(mirror);
    mirror.lastCall.store(number, std::memory_order_relaxed);
    transport.announce(0, number, {});
    if (fifos[0].hasSlot())
      fifos[0].finishSend();
    if (fifos[1].hasMessage()) {
      fifos[1].finishReceive();
      ++accepted;
    }
    transport.progress();
  }
  std::string problem() const {
    if (fifos[0].received > fifos[0].sent)
      return "a message is received before it is sent";
    if (fifos[1].sent - fifos[1].received > slots)
      return "a connection has more messages than slots";
    return announced.problem;
  }

private:
  uint32_t &accepted;
  std::span<const std::byte> frame;
  uint64_t token = 0;
  host::Memory memory;
  host::Fifo *fifos = nullptr;
  host::Mirror mirror;
  Announced announced;
  host::Transport transport{std::make_unique<FrameWire>(frame),
                            {{host::Transport::none, 1}, {1}},
                            std::vector<uint32_t>{0},
                            [](uint32_t) { return std::string("process 1"); }};
};

} // namespace

std::string checkTransport(std::span<const uint8_t> bytes, uint32_t &accepted) {
  Host host(accepted);
  for (uint64_t number = 1; !bytes.empty() && host.problem().empty(); ++number) {
    const size_t size = std::min<size_t>(bytes[0], bytes.size() - 1);
    host.receive(bytes.subspan(1, size));
    bytes = bytes.subspan(1 + size);
    host.work(number);
  }
  return host.problem();
}

} // namespace gc3::test
