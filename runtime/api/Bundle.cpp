// SPDX-License-Identifier: Apache-2.0
// The functions gc3Bundle* and gc3ProgramElements: load bundles and describe their programs.
#include "api/Handles.h"
#include "core/Identity.h"
#include "core/Layout.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace gc3;
using core::Outcome;

/// Stores the file in a new handle, or returns the error of opening it.
static Outcome handOut(bundle::BundleResult<std::unique_ptr<bundle::BundleFile>> file, gc3Bundle_t *handle) {
  if (file.ok())
    *handle = new gc3Bundle{std::move(*file)};
  return core::toOutcome(file.outcome());
}

extern "C" gc3Result_t gc3BundleLoad(gc3Bundle_t *bundle, const char *path) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!bundle || !path)
      return {gc3InvalidArgument, "bundle or path is null"};
    *bundle = nullptr;
    return handOut(bundle::BundleFile::open(path), bundle);
  });
}

extern "C" gc3Result_t gc3BundleLoadMemory(gc3Bundle_t *bundle, const void *bytes, size_t size) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!bundle || (!bytes && size != 0))
      return {gc3InvalidArgument, "bundle or bytes is null"};
    *bundle = nullptr;
    return handOut(bundle::BundleFile::openMemory(bytes, size), bundle);
  });
}

extern "C" gc3Result_t gc3BundleFree(gc3Bundle_t bundle) {
  delete bundle;
  return gc3Success;
}

extern "C" gc3Result_t gc3BundleProgramCount(gc3Bundle_t bundle, int *count) {
  if (!bundle || !count)
    return api::report(nullptr, gc3InvalidArgument, "bundle or count is null");
  *count = static_cast<int>(bundle->file->programCount());
  return gc3Success;
}

/// Returns an error unless the bundle has a program with that index.
static Outcome checkIndex(gc3Bundle_t bundle, int index) {
  if (!bundle)
    return {gc3InvalidArgument, "bundle is null"};
  if (index < 0 || static_cast<uint32_t>(index) >= bundle->file->programCount())
    return {gc3InvalidArgument,
            "program " + std::to_string(index) + " of " + std::to_string(bundle->file->programCount()) + " programs"};
  return {};
}

extern "C" gc3Result_t gc3BundleProgramInfo(gc3Bundle_t bundle, int index, gc3ProgramInfo_t *info) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!info || info->size < offsetof(gc3ProgramInfo_t, form)) // older applications have no `form` and `nodes`
      return {gc3InvalidArgument, "info is null or its size is not set"};
    if (Outcome outcome = checkIndex(bundle, index); !outcome.ok())
      return outcome;
    const auto &program = bundle->file->program(static_cast<uint32_t>(index));
    const gc3ProgramInfo_t full{info->size,
                                program.name()->c_str(),
                                program.collective()->c_str(),
                                static_cast<int>(program.ranks()),
                                program.min_bytes(),
                                program.max_bytes(),
                                program.in_place() ? 1 : 0,
                                program.contributions(),
                                program.fifo_slots(),
                                program.min_fifo_slots(),
                                program.verified(),
                                program.digest(),
                                core::formOf(program).c_str(),
                                static_cast<int>(program.nodes())};
    std::memcpy(info, &full, std::min(info->size, sizeof full));
    return {};
  });
}

extern "C" gc3Result_t gc3ProgramElements(gc3Bundle_t bundle, int index, int rank, size_t count, size_t *inputElements,
                                          size_t *outputElements) {
  return api::guarded(nullptr, [&]() -> Outcome {
    if (!inputElements || !outputElements)
      return {gc3InvalidArgument, "an element count is null"};
    if (Outcome outcome = checkIndex(bundle, index); !outcome.ok())
      return outcome;
    const auto &program = bundle->file->program(static_cast<uint32_t>(index));
    if (rank < 0 || static_cast<uint32_t>(rank) >= program.ranks())
      return {gc3InvalidArgument, "rank " + std::to_string(rank) + " of " + std::to_string(program.ranks()) + " ranks"};
    const auto view = bundle->file->rank(static_cast<uint32_t>(index), static_cast<uint32_t>(rank));
    if (!view.ok())
      return core::toOutcome(view.outcome());
    auto elements = [&](uint32_t slots, uint32_t chunks) {
      return core::bufferElements(program, slots ? slots / (chunks * program.subdivision()) : 0, chunks, count);
    };
    auto in = elements(view->inputSlots, program.input_chunks_per_block());
    auto out = elements(view->outputSlots, program.output_chunks_per_block());
    if (!in || !out)
      return {gc3InvalidArgument, "a count of " + std::to_string(count) + " elements exceeds the address space"};
    *inputElements = *in;
    *outputElements = *out;
    return {};
  });
}
