// SPDX-License-Identifier: Apache-2.0
#include "OnGpu.h"

namespace gc3::test {

std::string testProgram(const cuda::Cuda &cuda, const bundle::BundleFile &file, uint32_t index,
                        const cuda::Options &options, uint64_t repeats, cuda::Stream stream, Totals &totals) {
  const auto &info = file.program(index);
  core::Selection selection(file, info.ranks(), false);
  core::Request request;
  request.kind = core::CallKind::Program;
  request.name = info.name()->string_view();
  const core::Result<const core::LoadedProgram *> loaded = selection.select(request);
  if (!loaded.ok())
    return loaded.outcome().text;
  const auto world = cuda::LoopbackWorld::make(cuda, file, info.ranks(), options);
  if (!world.ok())
    return world.outcome().text;
  const Subject subject{file, index, **loaded, **world, stream};
  std::string problem = callAll(subject, totals.calls);
  if (problem == doesNotFit) {
    ++totals.tooLarge;
    return {};
  }
  if (problem.empty())
    problem = replayGraph(subject);
  if (problem.empty())
    problem = callOften(subject, repeats);
  ++totals.programs;
  totals.calls += repeats;
  return problem;
}

} // namespace gc3::test
