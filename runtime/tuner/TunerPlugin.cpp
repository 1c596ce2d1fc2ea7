// SPDX-License-Identifier: Apache-2.0
// The tuner plugin that NCCL opens: one table of functions for each version of the interface. No function returns an
// error, because NCCL would fail the application's call.
#include "core/Settings.h"
#include "tuner/Tuner.h"

#include <exception>

namespace gc3::tuner {

namespace {

constexpr const char *pluginName = "gc3";

void *create(size_t ranks, size_t nodes, abi::Logger logger) {
  try {
    return new Tuner(readChoices(core::settings().text(core::Setting::TunerTable), static_cast<uint32_t>(ranks),
                                 static_cast<uint32_t>(nodes), logger));
  } catch (const std::exception &) { // out of memory
    return nullptr;
  }
}

abi::Result initV4(size_t ranks, size_t nodes, abi::Logger logger, void **context) {
  *context = create(ranks, nodes, logger);
  return abi::Result::Success;
}

abi::Result initV5(void **context, uint64_t, size_t ranks, size_t nodes, abi::Logger logger, abi::NvlDomains *,
                   abi::Constants *) {
  return initV4(ranks, nodes, logger, context);
}

abi::Result getCollInfo(void *context, int collective, size_t bytes, int, float **costs, int algorithms, int protocols,
                        int, int *channels) {
  const CostTable table{reinterpret_cast<float *>(costs), static_cast<uint32_t>(algorithms),
                        static_cast<uint32_t>(protocols)};
  if (context)
    static_cast<const Tuner *>(context)->choose(collective, bytes, table, *channels);
  return abi::Result::Success;
}

abi::Result finalize(void *context) {
  delete static_cast<Tuner *>(context);
  return abi::Result::Success;
}

} // namespace

} // namespace gc3::tuner

// NOLINTBEGIN(readability-identifier-naming): these are NCCL's names
extern "C" {
extern const gc3::tuner::abi::TunerV4 ncclTunerPlugin_v4;
extern const gc3::tuner::abi::TunerV5 ncclTunerPlugin_v5;
extern const gc3::tuner::abi::TunerV6 ncclTunerPlugin_v6;
const gc3::tuner::abi::TunerV4 ncclTunerPlugin_v4 = {gc3::tuner::pluginName, gc3::tuner::initV4,
                                                     gc3::tuner::getCollInfo, gc3::tuner::finalize};
const gc3::tuner::abi::TunerV5 ncclTunerPlugin_v5 = {gc3::tuner::pluginName, gc3::tuner::initV5,
                                                     gc3::tuner::getCollInfo, gc3::tuner::finalize};
const gc3::tuner::abi::TunerV6 ncclTunerPlugin_v6 = {gc3::tuner::pluginName, gc3::tuner::initV5,
                                                     gc3::tuner::getCollInfo, gc3::tuner::finalize, nullptr};
}
// NOLINTEND(readability-identifier-naming)
