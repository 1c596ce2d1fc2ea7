// SPDX-License-Identifier: Apache-2.0
// A libnccl.so.2 that moves no data. Each call prints a line, such as `NCCL AllReduce(0x10, 0x20, 4, 7, 0, c0, 0x1)`.
// As in NCCL, nccl<name> is a weak alias of pnccl<name>, and Bcast calls Broadcast by its exported name. With OLD_NCCL,
// the library is like an older version, without pnccl names and without AlltoAll.
#include "ncclapi/Abi.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace gc3::ncclapi;

namespace {

/// The object to which a handle points.
struct Communicator {
  int ranks, rank;
};
Communicator made;

std::string text(Comm comm) {
  return comm ? "c0" : "null";
}
std::string text(UniqueId) {
  return "id";
}
std::string text(DataType type) {
  return std::to_string(static_cast<int>(type));
}
std::string text(RedOp op) {
  return std::to_string(static_cast<int>(op));
}
std::string text(int value) {
  return std::to_string(value);
}
std::string text(size_t value) {
  return std::to_string(value);
}
std::string text(const void *address) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "0x%zx", reinterpret_cast<size_t>(address));
  return digits;
}

template <typename... Args>
Result print(const char *name, Args... args) {
  std::string event = name, separator = "(";
  ((event += separator + text(args), separator = ", "), ...);
  std::printf("NCCL %s\n", (event + (sizeof...(args) ? ")" : "()")).c_str());
  std::fflush(stdout);
  return Result::Success;
}

} // namespace

// DEFINE(name, parameters...) begins the definition of a function.
#ifdef OLD_NCCL
#define DEFINE(name, ...) extern "C" Result nccl##name(__VA_ARGS__)
#else
#define DEFINE(name, ...)                                                                                              \
  extern "C" Result pnccl##name(__VA_ARGS__);                                                                          \
  extern "C" __attribute__((weak, alias("pnccl" #name))) Result nccl##name(__VA_ARGS__);                               \
  extern "C" Result pnccl##name(__VA_ARGS__)
#endif

DEFINE(AllReduce, const void *send, void *recv, size_t count, DataType type, RedOp op, Comm comm, Stream stream) {
  return print("AllReduce", send, recv, count, type, op, comm, stream);
}

#ifndef OLD_NCCL
DEFINE(AlltoAll, const void *send, void *recv, size_t count, DataType type, Comm comm, Stream stream) {
  return print("AlltoAll", send, recv, count, type, comm, stream);
}
#endif

DEFINE(Broadcast, const void *send, void *recv, size_t count, DataType type, int root, Comm comm, Stream stream) {
  return print("Broadcast", send, recv, count, type, root, comm, stream);
}

DEFINE(Bcast, void *buffer, size_t count, DataType type, int root, Comm comm, Stream stream) {
  print("Bcast", buffer, count, type, root, comm, stream);
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

DEFINE(Send, const void *send, size_t count, DataType type, int peer, Comm comm, Stream stream) {
  return print("Send", send, count, type, peer, comm, stream);
}

/// Sets an environment variable, as NCCL does for a line of nccl.conf.
DEFINE(CommInitRank, Comm *comm, int ranks, UniqueId id, int rank) {
  if (const char *value = std::getenv("TEST_NCCL_CONF"))
    setenv("NCCL_GRAPH_MIXING_SUPPORT", value, 0);
  made = {ranks, rank};
  *comm = reinterpret_cast<Comm>(&made);
  return print("CommInitRank", ranks, id, rank);
}

DEFINE(CommDestroy, Comm comm) {
  return print("CommDestroy", comm);
}

DEFINE(CommCount, Comm comm, int *ranks) {
  *ranks = reinterpret_cast<Communicator *>(comm)->ranks;
  return Result::Success;
}

DEFINE(GetVersion, int *version) {
  *version = 22809;
  return Result::Success;
}

DEFINE(GroupStart) {
  return print("GroupStart");
}

DEFINE(GroupEnd) {
  return print("GroupEnd");
}
