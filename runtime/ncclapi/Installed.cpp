// SPDX-License-Identifier: Apache-2.0
// Finds the installed NCCL and its functions with the dynamic loader.
#include "ncclapi/Installed.h"

#include "core/Log.h"
#include "core/Settings.h"

#include <array>
#include <atomic>
#include <dlfcn.h>
#include <mutex>

namespace gc3::ncclapi {

namespace {

thread_local unsigned insideDepth = 0;

/// Returns whether an address is in the shared object that contains this code.
bool isOurs(const void *address) {
  static const char here = 0;
  Dl_info theirs{}, ours{};
  return dladdr(address, &theirs) && dladdr(&here, &ours) && theirs.dli_fbase == ours.dli_fbase;
}

/// Returns function `name` (without the prefix `nccl`) of an open library. Returns null if the library has no such
/// function, or only gc3's own.
void *findFunction(void *library, const std::string &name) {
  for (const char *prefix : {"pnccl", "nccl"})
    if (void *address = dlsym(library, (prefix + name).c_str()); address && !isOurs(address))
      return address;
  return nullptr;
}

/// Returns `library` if it is an NCCL and not gc3's own library, else null.
void *acceptable(void *library) {
  return library && findFunction(library, "GetVersion") ? library : nullptr;
}

/// Opens the installed library, which is never closed. Returns null and logs a line if there is none.
void *openInstalled() {
  // Finds a loaded NCCL by its soname, independent of its path, even if the program opened it with RTLD_LOCAL.
  if (void *library = acceptable(dlopen("libnccl.so.2", RTLD_NOLOAD | RTLD_LAZY)))
    return library;
  std::string why;
  if (const std::string &path = core::settings().text(core::Setting::NcclLib); !path.empty()) {
    void *opened = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    const char *error = opened ? nullptr : dlerror();
    if (void *library = acceptable(opened))
      return library;
    why = "GC3_NCCL_LIB names '" + path + "': " + (error ? error : "not an NCCL library other than gc3");
  } else {
    why = "set GC3_NCCL_LIB to the installed libnccl.so.2";
  }
  if (void *library = acceptable(RTLD_NEXT))
    return library;
  if (void *library = acceptable(dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL)))
    return library;
  core::logOnce("no NCCL found; " + why);
  return nullptr;
}

/// Returns the installed library; null if it is not found. Opens it once. If that fails, the next call tries again.
void *installedLibrary() {
  static std::atomic<void *> found{nullptr};
  static std::mutex opening;
  if (void *library = found.load(std::memory_order_acquire))
    return library;
  std::lock_guard lock(opening);
  if (!found.load(std::memory_order_relaxed))
    found.store(openInstalled(), std::memory_order_release);
  return found.load(std::memory_order_relaxed);
}

} // namespace

void *findInstalled(const std::string &name) {
  void *library = installedLibrary();
  return library ? findFunction(library, name) : nullptr;
}

void *installedFunction(const std::string &name) {
  void *address = findInstalled(name);
  if (!address && installedLibrary())
    core::logOnce("the installed NCCL has no nccl" + name);
  return address;
}

void *installedFunction(Function function) {
  static std::array<std::atomic<void *>, std::size(functionNames)> found{};
  std::atomic<void *> &address = found[static_cast<size_t>(function)];
  if (void *known = address.load(std::memory_order_acquire))
    return known;
  void *fresh = installedFunction(std::string(functionNames[static_cast<size_t>(function)]));
  address.store(fresh, std::memory_order_release);
  return fresh;
}

bool isInsideNccl() {
  return insideDepth != 0;
}
NcclCallScope::NcclCallScope() {
  ++insideDepth;
}
NcclCallScope::~NcclCallScope() {
  --insideDepth;
}

} // namespace gc3::ncclapi
