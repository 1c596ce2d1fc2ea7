// SPDX-License-Identifier: Apache-2.0
#include "gin/Plugin.h"

#include "core/Log.h"
#include "core/Settings.h"
#include "gc3.h"

#include <dlfcn.h>
#include <unistd.h>

namespace gc3::gin {

namespace {

constexpr const char *fileName = "libgc3gin.so";

/// Returns the folder of the shared object that contains this code, with a trailing slash; empty if it is unknown.
std::string ownFolder() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || !info.dli_fname)
    return {};
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

const Plugin *open(const std::string &path, std::string &why) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  why = library ? "" : dlerror();
  auto *entry = library ? reinterpret_cast<Entry *>(dlsym(library, entryName)) : nullptr;
  const Plugin *plugin = entry ? entry() : nullptr;
  if (plugin && plugin->gc3 == GC3_VERSION)
    return plugin;
  if (library)
    why = path + (plugin ? " belongs to another version of gc3" : " is not a gc3 plugin");
  return nullptr;
}

std::string pathNear(const std::string &folder) {
  for (const char *place : {"", "gc3/"})
    if (std::string path = folder + place + fileName; access(path.c_str(), F_OK) == 0)
      return path;
  return fileName;
}

const Plugin *find() {
  static const Plugin *const found = [] {
    const std::string &path = core::settings().text(core::Setting::GinLib);
    std::string why;
    const Plugin *plugin = open(path.empty() ? pathNear(ownFolder()) : path, why);
    if (!plugin && core::isInfoEnabled())
      core::log("no GIN plugin: " + why);
    return plugin;
  }();
  return found;
}

} // namespace gc3::gin
