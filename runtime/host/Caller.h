// SPDX-License-Identifier: Apache-2.0
// One call of all ranks, from matching their requests to the copied-out result. Keeps programs, layouts, FIFOs, scratch
// and staging between calls: a repeated call allocates nothing.
#pragma once

#include "host/Executor.h"
#include "host/Padding.h"
#include "host/Random.h"
#include "host/Selection.h"
#include "host/Staging.h"

namespace gc3::host {

struct CallerOptions {
  LayoutOptions layout;
  uint32_t workers = 0; ///< 0: the machine's
  bool adversarial = false;
  uint64_t seed = 0;
};

class Caller {
public:
  Caller(const bundle::BundleFile &file, uint32_t rankCount, const CallerOptions &chosen);

  /// Runs the call that `requests` make together, one by rank. One thread at a time.
  Outcome call(std::span<const Request> requests);

  /// The program that such a call would run; errors as for the call.
  Outcome select(const Request &request, LoadedProgram *&program);

  /// Threads that wait for call() to return elsewhere help through this.
  WorkerPool &workers() { return pool; }

private:
  Outcome checkRequests(std::span<const Request> requests) const;
  /// The workers that such a call is worth, beside the caller's thread.
  uint32_t helpers(const Layout &layout) const;
  Outcome run(LoadedProgram &program, std::span<const Request> requests);
  Outcome runPadded(LoadedProgram &program, std::span<const Request> requests);
  Outcome prepare(LoadedProgram &program, const Request &request);
  template <typename Function>
  void forEachRank(uint32_t helpers, Function function);

  const uint32_t ranks;
  const CallerOptions options;
  Selection selection;
  Staging staging;
  Padding padding;
  Memory fifoMemory, scratchMemory;
  Random random;
  WorkerPool pool;
};

} // namespace gc3::host
