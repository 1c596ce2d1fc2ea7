// SPDX-License-Identifier: Apache-2.0
// Buffers of all ranks on a GPU, as copies of those on the host.
#pragma once

#include "cuda/Resources.h"
#include "host/Memory.h"

#include <memory>
#include <string>
#include <vector>

namespace gc3::run {

class Gpu {
public:
  /// The buffers on the host, by rank, have to stay; those of the GPU get their sizes.
  Gpu(const cuda::Cuda &cuda, std::vector<host::Memory> &inputs, std::vector<host::Memory> &outputs)
      : cuda(cuda), inputs(inputs), outputs(outputs) {}

  /// What went wrong, or an empty string, as of all that follow.
  std::string prepare();
  /// All buffers, and back; waits for calls, and for the copies.
  std::string upload() { return copyAll(true); }
  std::string download() { return copyAll(false); }
  std::string synchronize();

  std::byte *input(uint32_t rank) const { return static_cast<std::byte *>(memory[0][rank].get()); }
  std::byte *output(uint32_t rank) const { return static_cast<std::byte *>(memory[1][rank].get()); }
  cuda::Stream stream() const { return ownStream.get(); }

private:
  std::string copyAll(bool toGpu);

  const cuda::Cuda &cuda;
  std::vector<host::Memory> &inputs, &outputs;
  cuda::OwnStream ownStream;
  std::vector<cuda::DeviceMemory> memory[2]; ///< inputs, outputs
};

} // namespace gc3::run
