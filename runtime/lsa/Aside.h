// SPDX-License-Identifier: Apache-2.0
// What waits for a GPU on which kernels may hang until NCCL aborts them: done by somebody for whom nobody waits.
#pragma once

#include "cuda/Cuda.h"

#include <functional>

namespace gc3::lsa {

using Aside = void (*)(const std::function<void()> &work);

/// Here and now, for who wants to see what follows.
void atOnce(const std::function<void()> &work);
/// In a thread of its own; nothing is done where there is none to be had.
void inThread(const std::function<void()> &work);
/// `work` for a thread of its own, on a GPU: a new thread's is the first, which would be taken into use by making it
/// the current one again.
std::function<void()> onGpu(const cuda::Cuda &cuda, int device, std::function<void()> work);
/// Until no such thread is left, for who wants to see what they have left behind.
void awaitThreads();

} // namespace gc3::lsa
