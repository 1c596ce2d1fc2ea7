// SPDX-License-Identifier: Apache-2.0
// The PTX of all kernels, as nvcc wrote it when it compiled their objects. Reads a file when a launch first needs it.
#pragma once

#include "Module.h"
#include "core/Element.h"

#include <map>
#include <memory>
#include <mutex>

namespace gc3::ptx {

/// A kernel and the text that has it.
struct Entry {
  const Module *module;
  const Kernel *kernel;
};

/// Thread-safe.
class Library {
public:
  /// `folder` has a folder for each target of runtime/kernel and runtime/gin.
  explicit Library(std::string folder) : folder(std::move(folder)) {}

  /// Returns the library whose folder the environment variable EMULATED_PTX names. Returns null if it is not set. At
  /// the end of the process, appends the executed instructions to the file that EMULATED_PTX_COVERAGE names.
  static Library *chosen();

  /// Returns whether there is PTX of kernels over a network. There is none without NCCL's header for device code.
  bool hasNetwork() const;
  Entry interpreter(core::ElementType type, kernel::Protocol protocol, bool overNetwork);
  Entry multiply(core::ElementType type);
  Entry divide(core::ElementType type);
  Entry clock();
  /// Returns the kernel that moves the data of a run for test/device/MotionTest.cpp.
  Entry motion(kernel::Protocol protocol, uint32_t elementBytes);

  void appendCoverage(const std::string &path);

private:
  const Module &moduleOf(const std::string &target, const std::string &source);
  Entry entry(const std::string &target, const std::string &source, const std::string &name);

  const std::string folder;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Module>> modules; ///< by target and source
};

} // namespace gc3::ptx
