// SPDX-License-Identifier: Apache-2.0
// Joins frames and undoes changes. Every change is O(1), because a frame has at most one connection per direction.
#include "Frames.h"

using namespace gc3::schedule;

uint32_t Frames::connection(uint32_t source, uint32_t destination, uint32_t channel) {
  auto [place, isNew] = linkOf.try_emplace({source, destination, channel}, links.size());
  if (isNew) {
    log.push_back({Change::ConnectionAdded, place->second, {}, {}});
    links.push_back({source, destination, channel});
    ++outgoing[source];
    ++incoming[destination];
  }
  return place->second;
}

uint32_t Frames::pinned(uint32_t rank, Pin pin) const {
  auto place = pinOf.find(keyOf(rank, pin));
  return place == pinOf.end() ? None : place->second;
}

uint32_t Frames::add(const Request &request) {
  Frame frame{};
  frame.rank = request.rank;
  frame.channel = request.channel;
  frame.directive = request.directive;
  frame.site = request.site;
  frame.sendConnection = frame.recvConnection = None;
  log.push_back({Change::FrameAdded, static_cast<uint32_t>(frames.size()), {}, {}});
  frames.push_back(frame);
  ++frameCounts[request.rank];
  return static_cast<uint32_t>(frames.size()) - 1;
}

/// Merges frame `from` into frame `into`. Does nothing if `from` is None; sets `into` to `from` if `into` is None.
bool Frames::merge(uint32_t &into, uint32_t from) {
  if (from == None || from == into)
    return true;
  if (into == None) {
    into = from;
    return true;
  }
  Frame &a = frames[into];
  Frame &b = frames[from];
  if (a.channel != b.channel)
    return false;
  if (a.sendConnection != None && b.sendConnection != None)
    return false;
  if (a.recvConnection != None && b.recvConnection != None)
    return false;
  if (a.pin && b.pin)
    return false;
  change(into);
  change(from);
  if (b.sendConnection != None) {
    changeConnection(b.sendConnection);
    links[b.sendConnection].sendFrame = into;
    a.sendConnection = b.sendConnection;
  }
  if (b.recvConnection != None) {
    changeConnection(b.recvConnection);
    links[b.recvConnection].recvFrame = into;
    a.recvConnection = b.recvConnection;
  }
  if (b.pin) {
    a.pin = b.pin;
    pinOf[keyOf(a.rank, b.pin)] = into;
  }
  b.merged = true;
  --frameCounts[b.rank];
  return true;
}

/// Adds the connections and the pin of `request` that the frame lacks.
bool Frames::fill(uint32_t index, const Request &request) {
  Frame &frame = frames[index];
  if (frame.channel != request.channel)
    return false;
  if (request.sendConnection != None && frame.sendConnection != None && frame.sendConnection != request.sendConnection)
    return false;
  if (request.recvConnection != None && frame.recvConnection != None && frame.recvConnection != request.recvConnection)
    return false;
  if (request.pin && frame.pin && frame.pin != request.pin)
    return false;
  change(index);
  if (request.sendConnection != None && frame.sendConnection == None) {
    changeConnection(request.sendConnection);
    links[request.sendConnection].sendFrame = index;
    frame.sendConnection = request.sendConnection;
  }
  if (request.recvConnection != None && frame.recvConnection == None) {
    changeConnection(request.recvConnection);
    links[request.recvConnection].recvFrame = index;
    frame.recvConnection = request.recvConnection;
  }
  if (request.pin && !frame.pin) {
    log.push_back({Change::PinAdded, index, {}, {}});
    pinOf[keyOf(frame.rank, request.pin)] = index;
    frame.pin = request.pin;
  }
  return true;
}

/// Returns true if one frame already has all wanted connections. This holds for most messages after the first of a
/// connection.
bool Frames::alreadyThere(const Request &request) const {
  if (request.pin)
    return false;
  if (request.recvConnection == None)
    return request.sendConnection != None && links[request.sendConnection].sendFrame != None;
  uint32_t receiving = links[request.recvConnection].recvFrame;
  return receiving != None && (request.sendConnection == None || links[request.sendConnection].sendFrame == receiving);
}

bool Frames::place(const Request &request) {
  if (alreadyThere(request))
    return true;
  uint32_t frame = None;
  uint32_t parts[] = {request.recvConnection == None ? None : links[request.recvConnection].recvFrame,
                      request.sendConnection == None ? None : links[request.sendConnection].sendFrame,
                      request.pin ? pinned(request.rank, request.pin) : None};
  for (uint32_t part : parts)
    if (!merge(frame, part))
      return false;
  if (frame == None)
    frame = add(request);
  return fill(frame, request);
}

void Frames::join(uint32_t a, uint32_t b) {
  [[maybe_unused]] bool fits = merge(a, b);
  assert(fits);
}

void Frames::rollBack(size_t mark) {
  for (; log.size() > mark; log.pop_back()) {
    const Change &last = log.back();
    switch (last.kind) {
    case Change::FrameChanged: {
      Frame &frame = frames[last.index];
      frameCounts[frame.rank] += frame.merged && !last.frame.merged;
      frame = last.frame;
      if (frame.pin) // a merge may have moved the pin away
        pinOf[keyOf(frame.rank, frame.pin)] = last.index;
      break;
    }
    case Change::FrameAdded:
      --frameCounts[frames[last.index].rank];
      frames.pop_back();
      break;
    case Change::ConnectionChanged: links[last.index] = last.connection; break;
    case Change::ConnectionAdded:
      --outgoing[links[last.index].source];
      --incoming[links[last.index].destination];
      linkOf.erase({links[last.index].source, links[last.index].destination, links[last.index].channel});
      links.pop_back();
      break;
    case Change::PinAdded: pinOf.erase(keyOf(frames[last.index].rank, frames[last.index].pin)); break;
    }
  }
}
