// SPDX-License-Identifier: Apache-2.0
// First fit in the order of the bundle. Where nothing fits the error lists what there is.
#include "host/Selection.h"

#include "host/Layout.h"

#include <algorithm>

namespace gc3::host {

namespace {

std::string_view view(const flatbuffers::String *text) {
  return {text->data(), text->size()};
}

} // namespace

void LoadedProgram::analyse() {
  const Order order(*program);
  asWritten = std::make_shared<Transfers>(Transfers::asWritten(*program, order));
  inPlace = standard && order.known() ? std::make_shared<Transfers>(Transfers::inPlace(*program, order, *standard))
                                      : asWritten;
}

Outcome Selection::load(uint32_t index, const LoadedProgram *&program) {
  if (!loaded[index]) {
    auto fresh = std::make_unique<LoadedProgram>();
    if (bundle::BundleStatus status = Program::load(file, index, fresh->program); !status.ok())
      return toOutcome(status);
    const StandardCollective *standard = findStandard(view(fresh->program->info().collective()));
    if (standard && hasShape(*fresh->program, *standard, fresh->root))
      fresh->standard = standard;
    fresh->analyse();
    loaded[index] = std::move(fresh);
  }
  program = loaded[index].get();
  return {};
}

Outcome Selection::select(const Request &request, const LoadedProgram *&chosen) {
  std::string closest;
  auto because = [&](const std::string &name, const std::string &reason) {
    closest += "; program '" + name + "' " + reason;
  };
  for (uint32_t i = 0; i < file.programCount(); ++i) {
    const auto &info = file.program(i);
    auto name = request.kind == CallKind::Program ? info.name() : info.collective();
    if (view(name) != request.name || info.ranks() != ranks)
      continue;
    const LoadedProgram *candidate = nullptr;
    if (Outcome outcome = load(i, candidate); !outcome.ok())
      return outcome;
    if (request.kind == CallKind::Standard && !candidate->standard) {
      because(info.name()->str(), "has not the buffers of '" + std::string(request.name) + "'");
      continue;
    }
    if (request.kind == CallKind::Standard && candidate->root != request.root) {
      because(info.name()->str(), "has root " + std::to_string(candidate->root));
      continue;
    }
    auto bytes = callBytes(*candidate->program, request.count, elementSize(static_cast<ElementType>(request.type)));
    if (!bytes)
      return {gc3InvalidArgument,
              "a count of " + std::to_string(request.count) + " elements is beyond the address space"};
    if (request.kind != CallKind::Program && (*bytes < info.min_bytes() || *bytes >= info.max_bytes())) {
      because(info.name()->str(), "is for other sizes than " + std::to_string(*bytes) + " bytes");
      continue;
    }
    chosen = candidate;
    return {};
  }
  return noProgram(request, closest);
}

Outcome Selection::noProgram(const Request &request, const std::string &closest) const {
  constexpr uint32_t listed = 16;
  std::string text = (request.kind == CallKind::Program ? "no program '" : "no program for '") +
                     std::string(request.name) + "' on " + std::to_string(ranks) + " ranks";
  if (request.root >= 0)
    text += " with root " + std::to_string(request.root);
  text += closest + "; the bundle has:";
  for (uint32_t i = 0; i < std::min(file.programCount(), listed); ++i) {
    const auto &info = file.program(i);
    text += "\n  '" + info.name()->str() + "': " + info.collective()->str() + " on " + std::to_string(info.ranks()) +
            " ranks";
    if (info.min_bytes() != 0 || info.max_bytes() != UINT64_MAX)
      text += ", " + std::to_string(info.min_bytes()) + " .. " +
              (info.max_bytes() == UINT64_MAX ? "" : std::to_string(info.max_bytes())) + " bytes";
  }
  if (file.programCount() == 0)
    text += " nothing";
  if (file.programCount() > listed)
    text += "\n  and " + std::to_string(file.programCount() - listed) + " more";
  return {gc3NoProgram, text};
}

} // namespace gc3::host
