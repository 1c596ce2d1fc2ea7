// SPDX-License-Identifier: Apache-2.0
#include "host/SharedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace gc3::host {

using core::Outcome;
using core::Result;

namespace {

Outcome systemError(const std::string &what) {
  return {gc3SystemError, what + ": " + std::strerror(errno)};
}

} // namespace

SharedPart::~SharedPart() {
  if (begin)
    ::munmap(begin, bytes);
}

void SharedPart::discard() {
  if (begin)
    ::fallocate(*file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes));
}

void SharedPart::swap(SharedPart &other) noexcept {
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  std::swap(offset, other.offset);
  std::swap(file, other.file);
}

SharedFile::SharedFile(int descriptor)
    : file(new int(descriptor), [](const int *owned) {
        ::close(*owned);
        delete owned;
      }) {}

Result<SharedFile> SharedFile::create() {
  const int descriptor = ::memfd_create("gc3", MFD_CLOEXEC);
  if (descriptor < 0)
    return systemError("can't create shared memory");
  return SharedFile(descriptor);
}

Result<SharedFile> SharedFile::open(int process, int descriptor) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0)
    return systemError("can't open the shared memory of process " + std::to_string(process) + " (" + path + ")");
  return SharedFile(own);
}

Result<SharedPart> SharedFile::take(size_t bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto refuse = [&] { return systemError("no memory for " + std::to_string(bytes) + " shared bytes"); };
  if (bytes > (SIZE_MAX >> 2)) {
    errno = ENOMEM;
    return refuse();
  }
  SharedPart part;
  const size_t whole = (bytes + page - 1) / page * page;
  const uint64_t offset = std::exchange(next, next + whole);
  if (whole == 0)
    return part;
  rlimit files{};
  ::getrlimit(RLIMIT_FSIZE, &files);
  if (offset + whole > files.rlim_cur) { // else the system would end this process by a signal
    errno = EFBIG;
    return refuse();
  }
  // Extends the file, unless another process has done so before: this never makes it shorter.
  while (::fallocate(*file, 0, static_cast<off_t>(offset + whole - page), static_cast<off_t>(page)) != 0)
    if (errno != EINTR)
      return refuse();
  void *const begin = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, *file, static_cast<off_t>(offset));
  if (begin == MAP_FAILED)
    return refuse();
  part.begin = static_cast<std::byte *>(begin);
  part.bytes = whole;
  part.offset = offset;
  part.file = file;
  return part;
}

} // namespace gc3::host
