// SPDX-License-Identifier: Apache-2.0
// Runs a program through the C API, as applications do: in place and out of place, with any number of elements. Such
// calls can need private copies and padding.
#pragma once

#include "Data.h"
#include "gc3.h"
#include <string>

namespace gc3::mutation {

class ApiTrial {
public:
  /// Creates communicators for the bundle, with adversarial order. Accepts programs that are not proven.
  ApiTrial(const std::string &bytes, uint32_t slots, uint64_t seed);
  ~ApiTrial();
  ApiTrial(const ApiTrial &) = delete;
  ApiTrial &operator=(const ApiTrial &) = delete;

  /// Makes a call. Returns an empty string if its results are right, otherwise a description.
  std::string call(const Data &data, bool inPlace);

private:
  std::string lastError(const char *what) const;

  gc3Bundle_t bundle = nullptr;
  gc3ProgramInfo_t info{};
  std::vector<gc3Comm_t> comms;
  std::string problem; ///< error message if the communicators were not created, or empty
};

} // namespace gc3::mutation
