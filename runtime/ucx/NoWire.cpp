// SPDX-License-Identifier: Apache-2.0
// For builds without UCX.
#include "ucx/Wire.h"

namespace gc3::ucx {

core::Result<std::unique_ptr<host::Wire>> openWire() {
  return core::Outcome{gc3SystemError, "this gc3 was built without UCX (GC3_UCX)"};
}

} // namespace gc3::ucx
