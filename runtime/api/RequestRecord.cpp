// SPDX-License-Identifier: Apache-2.0
#include "api/RequestRecord.h"

#include <algorithm>

namespace gc3::api {

void RequestRecord::write(const core::Request &request) {
  count = request.count;
  type = request.type;
  op = request.op;
  root = request.root;
  kind = request.kind;
  isPreMulSum = request.preMulSum.has_value();
  scalarType = isPreMulSum ? request.preMulSum->type : core::ElementType{};
  nameBytes = static_cast<uint16_t>(request.name.size());
  std::copy_n(request.name.data(), nameBytes, name);
}

core::Request RequestRecord::read() const {
  core::Request request;
  request.kind = kind;
  request.name = {name, std::min<size_t>(nameBytes, mostNameBytes)};
  request.count = count;
  request.type = static_cast<gc3DataType_t>(type);
  request.op = static_cast<gc3RedOp_t>(op);
  request.root = root;
  if (isPreMulSum)
    request.preMulSum = core::PreMulSum{scalarType, {}};
  return request;
}

} // namespace gc3::api
