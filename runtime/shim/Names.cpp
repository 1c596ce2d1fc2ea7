// SPDX-License-Identifier: Apache-2.0
// Defines NCCL's functions that create communicators with a config. gc3 exports these functions. A communicator that
// NCCL creates after such a function has returned has no name, because its handle is not known yet.
#include "shim/Names.h"

#include "ncclapi/Installed.h"
#include "shim/Exports.h"
#include "shim/Guarded.h"

#include <cstring>

namespace gc3::shim {

using namespace ncclapi;

/// Returns the name in a config; empty if it has none, or if it is of an older NCCL.
static std::string nameIn(const Config *config) {
  const char *name = nullptr;
  if (config && config->size >= commNameOffset + sizeof name)
    std::memcpy(&name, reinterpret_cast<const std::byte *>(config) + commNameOffset, sizeof name);
  return name ? name : "";
}

CommunicatorNames &CommunicatorNames::ofProcess() {
  static auto &names = *new CommunicatorNames;
  return names;
}

void CommunicatorNames::record(Comm comm, const Config *config) {
  if (!comm)
    return;
  const std::string name = nameIn(config);
  std::lock_guard lock(mutex);
  names.erase(comm);
  if (!name.empty())
    names.emplace(comm, name);
}

std::string CommunicatorNames::find(Comm comm) const {
  std::lock_guard lock(mutex);
  const auto found = names.find(comm);
  return found == names.end() ? "" : found->second;
}

void CommunicatorNames::remove(Comm comm) {
  std::lock_guard lock(mutex);
  names.erase(comm);
}

Result recordCreated(Result result, const Comm *created, const Config *config) {
  if (isInsideNccl() || !created || (result != Result::Success && result != Result::InProgress))
    return result;
  return guarded([&] {
    CommunicatorNames::ofProcess().record(*created, config);
    return result;
  });
}

} // namespace gc3::shim

using namespace gc3::shim;

extern "C" {

Result ncclCommInitRankConfig(Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  return recordCreated(callInstalled<Function::CommInitRankConfig>(comm, ranks, id, rank, config), comm, config);
}

Result ncclCommInitRankScalable(Comm *comm, int ranks, int rank, int ids, UniqueId *id, Config *config) {
  return recordCreated(callInstalled<Function::CommInitRankScalable>(comm, ranks, rank, ids, id, config), comm, config);
}

Result ncclCommSplit(Comm parent, int color, int key, Comm *child, Config *config) {
  return recordCreated(callInstalled<Function::CommSplit>(parent, color, key, child, config), child, config);
}

} // extern "C"
