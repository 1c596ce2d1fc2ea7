// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one machine share: an anonymous file (memfd_create), which vanishes with the last
// process that has it open, however that process ends. Parts of the file are mapped one by one. Each process takes the
// same parts in the same order, so that all processes map the same part without any message. No part is used twice,
// because a process may release its mapping later than another one. So a new part has only zeros. Addresses in the file
// do not run out: a file has 2^63 bytes, and only the pages of mapped parts take memory.
#pragma once

#include "core/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gc3::host {

/// A mapped part of a SharedFile. The destructor unmaps it. Its pages stay, because other processes may use them.
class SharedPart {
public:
  SharedPart() = default;
  SharedPart(SharedPart &&other) noexcept { swap(other); }
  SharedPart &operator=(SharedPart &&other) noexcept {
    swap(other);
    return *this;
  }
  ~SharedPart();

  /// The address is aligned to a page.
  std::byte *data() const { return begin; }
  size_t size() const { return bytes; }
  /// Releases the pages, for all processes. No process may use the part after this.
  void discard();

private:
  friend class SharedFile;
  void swap(SharedPart &other) noexcept;

  std::byte *begin = nullptr;
  size_t bytes = 0;
  uint64_t offset = 0;
  std::shared_ptr<const int> file; ///< keeps the descriptor open
};

/// Not thread-safe.
class SharedFile {
public:
  /// Creates a file. gc3SystemError: the system refuses it.
  static core::Result<SharedFile> create();
  /// Opens the file that another process of this machine and user has created; the arguments describe it there.
  static core::Result<SharedFile> open(int process, int descriptor);

  /// Returns the descriptor, for open() in other processes.
  int descriptor() const { return *file; }

  /// Maps the next part, which has at least `bytes` zeros. Pages take memory when a process first touches them.
  /// gc3SystemError: there is no memory.
  core::Result<SharedPart> take(size_t bytes);

private:
  explicit SharedFile(int descriptor);

  std::shared_ptr<const int> file;
  uint64_t next = 0; ///< offset of the next part
};

} // namespace gc3::host
