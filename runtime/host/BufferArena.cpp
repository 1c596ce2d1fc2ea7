// SPDX-License-Identifier: Apache-2.0
#include "host/BufferArena.h"

#include "host/FreeMemory.h"
#include "host/SharedFile.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gc3::host {

using core::Outcome;
using core::Result;

namespace {

constexpr uint64_t hugePage = 2 << 20;

/// The mapped file, and which parts of it are allocated. Parts are described by their offsets and sizes.
struct Arena {
  std::mutex mutex; ///< guards the maps
  ArenaPlace place;
  std::byte *base = nullptr;
  std::map<uint64_t, uint64_t> free, used;
};

std::mutex creation;
std::atomic<Arena *> current{nullptr}; ///< never deleted, because other threads may use it until the process ends

uint64_t roundUp(uint64_t number, uint64_t unit) {
  return (number + unit - 1) / unit * unit;
}

Outcome systemError(const std::string &what) {
  return {gc3SystemError, what + ": " + std::strerror(errno)};
}

void *mapFile(int descriptor, uint64_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
}

uint64_t limitOf(__rlimit_resource resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/// Returns how many bytes of addresses an arena should have: enough for all memory of the machine, also in pieces. A
/// limit on the size of files applies (ulimit -f). If the process has few addresses (ulimit -v), other memory needs
/// them, too, and the arenas of other processes.
uint64_t wantedBytes() {
  const auto pages = static_cast<uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  const uint64_t memory = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t most = std::min<uint64_t>(limitOf(RLIMIT_FSIZE), limitOf(RLIMIT_AS) / 16);
  return std::min<uint64_t>(std::bit_ceil(2 * memory), most / hugePage * hugePage);
}

Result<Arena *> create() {
  const int descriptor = ::memfd_create("gc3 buffers", MFD_CLOEXEC);
  if (descriptor < 0)
    return systemError("can't create memory for buffers");
  const uint64_t bytes = wantedBytes();
  errno = EFBIG;
  void *const base =
      bytes == 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 ? MAP_FAILED : mapFile(descriptor, bytes);
  if (base == MAP_FAILED) {
    const Outcome outcome = systemError("can't map memory for buffers");
    ::close(descriptor);
    return outcome;
  }
  ::madvise(base, bytes, MADV_HUGEPAGE); // if the system has huge pages for shared memory
  auto *const made = new Arena;
  made->base = static_cast<std::byte *>(base);
  made->place = {made->base, bytes, descriptor};
  made->free.emplace(0, bytes);
  return made;
}

Result<Arena *> own() {
  const std::lock_guard lock(creation);
  if (Arena *known = current.load(std::memory_order_acquire))
    return known;
  static const int registered = ::pthread_atfork([] { creation.lock(); }, [] { creation.unlock(); },
                                                 [] {
                                                   current.store(nullptr);
                                                   creation.unlock();
                                                 });
  if (registered != 0)
    return Outcome{gc3SystemError, "no memory"};
  Result<Arena *> made = create();
  if (made.ok())
    current.store(*made, std::memory_order_release);
  return made;
}

/// Takes the first free part that fits. Returns its offset, or UINT64_MAX if there is none.
uint64_t takePart(Arena &arena, uint64_t bytes, uint64_t alignment) {
  for (auto [begin, size] : arena.free) {
    const uint64_t at = roundUp(begin, alignment), end = begin + size;
    if (at > end || end - at < bytes)
      continue;
    arena.free.erase(begin);
    if (at > begin)
      arena.free.emplace(begin, at - begin);
    if (at + bytes < end)
      arena.free.emplace(at + bytes, end - at - bytes);
    arena.used.emplace(at, bytes);
    return at;
  }
  return UINT64_MAX;
}

/// Makes a used part free, together with its free neighbours.
void freePart(Arena &arena, std::map<uint64_t, uint64_t>::iterator part) {
  auto [begin, bytes] = *part;
  arena.used.erase(part);
  auto next = arena.free.lower_bound(begin);
  if (next != arena.free.end() && next->first == begin + bytes) {
    bytes += next->second;
    next = arena.free.erase(next);
  }
  if (next != arena.free.begin())
    if (auto before = std::prev(next); before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  arena.free.emplace(begin, bytes);
}

/// Allocates pages, in pieces: some kernels free the pages of a piece again if a signal arrives.
bool allocatePages(const Arena &arena, uint64_t begin, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t piece = std::min(bytes - done, hugePage);
    if (::fallocate(arena.place.descriptor, 0, static_cast<off_t>(begin + done), static_cast<off_t>(piece)) == 0)
      done += piece;
    else if (errno != EINTR)
      return false;
  }
  return true;
}

void releasePages(const Arena &arena, uint64_t begin, uint64_t bytes) {
  ::fallocate(arena.place.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
              static_cast<off_t>(bytes));
}

} // namespace

namespace arena {

Result<void *> allocate(size_t bytes) {
  Result<Arena *> made = own();
  if (!made.ok())
    return made.outcome();
  Arena &arena = **made;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto refuse = [&](int reason) {
    errno = reason;
    return systemError("no memory for a buffer of " + std::to_string(bytes) + " bytes");
  };
  if (bytes > arena.place.bytes || bytes > freeMemory())
    return refuse(ENOMEM);
  const std::lock_guard lock(arena.mutex);
  const uint64_t whole = roundUp(std::max<uint64_t>(bytes, 1), page);
  const uint64_t at = takePart(arena, whole, whole >= hugePage ? hugePage : page);
  if (at == UINT64_MAX)
    return refuse(ENOMEM);
  if (!allocatePages(arena, at, whole)) { // else a lack of memory would be a SIGBUS at the first access
    const int reason = errno;
    releasePages(arena, at, whole);
    freePart(arena, arena.used.find(at));
    return refuse(reason);
  }
  return static_cast<void *>(arena.base + at);
}

Outcome release(void *buffer) {
  Arena *const arena = current.load(std::memory_order_acquire);
  Outcome unknown{gc3InvalidArgument, "this process has not allocated the buffer, or has released it"};
  if (!arena || !arena->place.holds(buffer))
    return unknown;
  const std::lock_guard lock(arena->mutex);
  const auto part = arena->used.find(static_cast<uint64_t>(static_cast<std::byte *>(buffer) - arena->base));
  if (part == arena->used.end())
    return unknown;
  releasePages(*arena, part->first, part->second);
  freePart(*arena, part);
  return {};
}

ArenaPlace place() noexcept {
  const Arena *const arena = current.load(std::memory_order_acquire);
  return arena ? arena->place : ArenaPlace{};
}

} // namespace arena

Result<ArenaView> ArenaView::open(int process, const ArenaPlace &place) {
  Result<SharedFile> file = SharedFile::open(process, place.descriptor);
  if (!file.ok())
    return file.outcome();
  void *const base = mapFile(file->descriptor(), place.bytes);
  if (base == MAP_FAILED)
    return systemError("can't map the buffers of process " + std::to_string(process));
  ArenaView view;
  view.theirs = place;
  view.own = static_cast<std::byte *>(base);
  return view;
}

ArenaView::~ArenaView() {
  if (own)
    ::munmap(own, theirs.bytes);
}

} // namespace gc3::host
