// SPDX-License-Identifier: Apache-2.0
// The same question asked through the C API, as users call it: in place and out of place, for any number of elements,
// copies and padding included.
#pragma once

#include "Data.h"
#include "gc3.h"
#include <string>

namespace gc3::mutation {

class ApiTrial {
public:
  /// Communicators for the bundle, in adversarial order; programs without a proof are taken.
  ApiTrial(const std::string &bytes, uint32_t slots, uint64_t seed);
  ~ApiTrial();
  ApiTrial(const ApiTrial &) = delete;
  ApiTrial &operator=(const ApiTrial &) = delete;

  /// Empty if the call leaves what it should, else what is wrong.
  std::string call(const Data &data, bool inPlace);

private:
  std::string lastError(const char *what) const;

  gc3Bundle_t bundle = nullptr;
  gc3ProgramInfo_t info{};
  std::vector<gc3Comm_t> comms;
  std::string problem; ///< that there are no communicators
};

} // namespace gc3::mutation
