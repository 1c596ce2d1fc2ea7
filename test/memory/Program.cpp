// SPDX-License-Identifier: Apache-2.0
#include "Program.h"

#include <utility>

namespace gc3::memory {

bool Program::includes(const Event &event, uint32_t thread) const {
  const Thread &own = threads[event.thread], &other = threads[thread];
  switch (event.scope) {
  case Scope::Cta: return own.gpu == other.gpu && own.block == other.block;
  case Scope::Gpu: return own.gpu == other.gpu;
  case Scope::Sys: return true;
  }
  return false;
}

uint32_t Builder::thread(std::string name, uint32_t gpu, uint32_t block) {
  program.threads.push_back({std::move(name), gpu, block});
  return static_cast<uint32_t>(program.threads.size() - 1);
}

uint32_t Builder::address(std::string name) {
  const auto number = static_cast<uint32_t>(program.addresses.size());
  program.addresses.push_back({std::move(name), number});
  return number;
}

uint32_t Builder::alias(std::string name, uint32_t of) {
  const uint32_t number = address(std::move(name));
  program.addresses[number].location = program.addresses[of].location;
  return number;
}

Event &Builder::add(Kind kind, uint32_t thread, std::string label) {
  Event &event = program.events.emplace_back();
  event.kind = kind;
  event.thread = thread;
  event.label = std::move(label);
  return event;
}

void Builder::store(uint32_t thread, std::string label, uint32_t address, int value, Strength strength) {
  Event &event = add(Kind::Store, thread, std::move(label));
  event.address = address;
  event.value = value;
  event.order = strength.order;
  event.scope = strength.scope;
}

void Builder::forward(uint32_t thread, std::string label, uint32_t address, uint32_t load, Strength strength) {
  store(thread, std::move(label), address, 0, strength);
  program.events.back().source = load;
}

uint32_t Builder::load(uint32_t thread, std::string label, uint32_t address, Strength strength, int least, int most) {
  Event &event = add(Kind::Load, thread, std::move(label));
  event.address = address;
  event.order = strength.order;
  event.scope = strength.scope;
  event.least = least;
  event.most = most;
  return static_cast<uint32_t>(program.events.size() - 1);
}

uint32_t Builder::check(uint32_t thread, std::string label, uint32_t address, int value, Strength strength, int least) {
  const uint32_t number = load(thread, std::move(label), address, strength, least);
  program.events.back().value = value;
  program.events.back().isChecked = true;
  return number;
}

void Builder::fence(uint32_t thread, std::string label, Scope scope, Order order) {
  Event &event = add(Kind::Fence, thread, std::move(label));
  event.order = order;
  event.scope = scope;
}

void Builder::aliasFence(uint32_t thread, std::string label) {
  add(Kind::AliasFence, thread, std::move(label));
}

void Builder::barrier(const std::vector<uint32_t> &threads, const std::string &label) {
  const uint32_t number = group();
  for (const uint32_t thread : threads)
    add(Kind::Barrier, thread, label).group = number;
}

void Builder::boundary(const std::vector<uint32_t> &ending, const std::vector<uint32_t> &beginning) {
  const uint32_t number = group();
  for (const uint32_t thread : ending)
    add(Kind::End, thread, "kernel end").group = number;
  for (const uint32_t thread : beginning)
    add(Kind::Begin, thread, "kernel begin").group = number;
}

std::string nameOf(const Event &event) {
  static constexpr const char *orders[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};
  static constexpr const char *scopes[] = {".cta", ".gpu", ".sys"};
  const std::string strength = orders[static_cast<size_t>(event.order)] +
                               std::string(event.isStrong() ? scopes[static_cast<size_t>(event.scope)] : "");
  switch (event.kind) {
  case Kind::Load: return "ld." + strength;
  case Kind::Store: return "st." + strength;
  case Kind::Fence: return "fence." + strength;
  case Kind::AliasFence: return "fence.proxy.alias";
  case Kind::Barrier: return "bar.sync";
  case Kind::End: return "kernel end";
  case Kind::Begin: return "kernel begin";
  }
  return "";
}

std::string textOf(const Program &program, const Event &event) {
  return nameOf(event) + (event.isMemory() ? " " + program.addresses[event.address].name : "");
}

} // namespace gc3::memory
