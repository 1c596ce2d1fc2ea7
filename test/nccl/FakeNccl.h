// SPDX-License-Identifier: Apache-2.0
// A stand-in for the installed NCCL: a shared library with its name and the functions that the tests call. It moves no
// data; each call is an event, `AllReduce(0x10, 0x20, 4, 7, 0, c0, 0x1)`, and any can be made to fail.
#pragma once

#include "ncclapi/Abi.h"

#include <string>

namespace gc3::nccl::test {

/// What a handle points at; numbers count from 0 in each process.
struct FakeComm {
  int number;
  int ranks;
  int rank;
  bool blocking = true;
};

inline std::string commName(ncclapi::Comm comm) {
  return comm ? 'c' + std::to_string(reinterpret_cast<FakeComm *>(comm)->number) : "null";
}

} // namespace gc3::nccl::test

extern "C" {
/// Where events go; without a call, to stdout. Thread-safe if `sink` is.
void fakeNcclSink(void (*sink)(const char *event));
/// The next call of nccl<function> does nothing but return `result`.
void fakeNcclFail(const char *function, gc3::ncclapi::Result result);
/// What CommGetAsyncError says.
void fakeNcclAsyncError(gc3::ncclapi::Result error);
/// The next communicator has the handle of this one, as if that had been destroyed and its memory given out again.
void fakeNcclReuse(gc3::ncclapi::Comm comm);
/// Numbers of communicators begin at 0 again, those of operations behind the built-in ones.
void fakeNcclReset();
}
