// SPDX-License-Identifier: Apache-2.0
// Holds copies of all ranks' host buffers on a GPU.
#pragma once

#include "Buffer.h"

#include "cuda/Resources.h"

#include <memory>
#include <string>
#include <vector>

namespace gc3::run {

class Gpu {
public:
  /// `inputs` and `outputs` are host buffers, indexed by rank. They must outlive this object. prepare() allocates
  /// buffers of the same sizes on the GPU.
  Gpu(const cuda::Cuda &cuda, std::vector<Buffer> &inputs, std::vector<Buffer> &outputs)
      : cuda(cuda), inputs(inputs), outputs(outputs) {}

  /// Allocates the stream and the buffers. Like the next functions, returns an error message or an empty string.
  std::string prepare();
  /// Copies all buffers to the GPU, or back. Waits for earlier calls and for the copies.
  std::string upload() { return copyAll(true); }
  std::string download() { return copyAll(false); }
  std::string synchronize();

  std::byte *input(uint32_t rank) const { return static_cast<std::byte *>(memory[0][rank].get()); }
  std::byte *output(uint32_t rank) const { return static_cast<std::byte *>(memory[1][rank].get()); }
  cuda::Stream stream() const { return ownStream.get(); }

private:
  std::string copyAll(bool toGpu);

  const cuda::Cuda &cuda;
  std::vector<Buffer> &inputs, &outputs;
  cuda::OwnStream ownStream;
  std::vector<cuda::DeviceMemory> memory[2]; ///< [0]: inputs, [1]: outputs
};

} // namespace gc3::run
