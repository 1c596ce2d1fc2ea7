// SPDX-License-Identifier: Apache-2.0
#include "gin/Part.h"

#include "gc3.h"
#include "nccl/Log.h"

#include <cstdlib>
#include <dlfcn.h>

namespace gc3::gin {

namespace {

constexpr const char *fileName = "libgc3gin.so";

/// The folder that this code was loaded from, with a slash behind; empty where that is not known.
std::string ownFolder() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || !info.dli_fname)
    return {};
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1); // npos + 1 is 0
}

void *load(const std::string &file, std::string &why) {
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  why = library ? "" : dlerror();
  return library;
}

} // namespace

const Part *open(const char *path, std::string &why) {
  void *library = load(path ? path : ownFolder() + fileName, why);
  if (!library && !path)
    library = load(fileName, why);
  auto *entry = library ? reinterpret_cast<Entry *>(dlsym(library, entryName)) : nullptr;
  const Part *part = entry ? entry() : nullptr;
  if (part && part->gc3 == GC3_VERSION)
    return part;
  if (library)
    why = std::string(path ? path : fileName) + (part ? " is of another version of gc3" : " is not gc3's");
  return nullptr;
}

const Part *find() {
  static const Part *const found = [] {
    const char *path = std::getenv("GC3_GIN_LIB");
    std::string why;
    const Part *part = open(path && *path ? path : nullptr, why);
    if (!part && nccl::informs())
      nccl::inform("no way between nodes: " + why);
    return part;
  }();
  return found;
}

} // namespace gc3::gin
