// SPDX-License-Identifier: Apache-2.0
#include "gin/Part.h"

#include "core/Log.h"
#include "core/Settings.h"
#include "gc3.h"

#include <dlfcn.h>
#include <unistd.h>

namespace gc3::gin {

namespace {

constexpr const char *fileName = "libgc3gin.so";

/// Returns the folder that this code was loaded from, with a trailing slash, or an empty string if it is unknown.
std::string ownFolder() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || !info.dli_fname)
    return {};
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

const Part *open(const std::string &path, std::string &why) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  why = library ? "" : dlerror();
  auto *entry = library ? reinterpret_cast<Entry *>(dlsym(library, entryName)) : nullptr;
  const Part *part = entry ? entry() : nullptr;
  if (part && part->gc3 == GC3_VERSION)
    return part;
  if (library)
    why = path + (part ? " belongs to another version of gc3" : " is not a gc3 plugin");
  return nullptr;
}

std::string pathNear(const std::string &folder) {
  for (const char *place : {"", "gc3/"})
    if (std::string path = folder + place + fileName; access(path.c_str(), F_OK) == 0)
      return path;
  return fileName;
}

const Part *find() {
  static const Part *const found = [] {
    const std::string &path = core::settings().text(core::Setting::GinLib);
    std::string why;
    const Part *part = open(path.empty() ? pathNear(ownFolder()) : path, why);
    if (!part && core::isInfoEnabled())
      core::log("no way between nodes: " + why);
    return part;
  }();
  return found;
}

} // namespace gc3::gin
