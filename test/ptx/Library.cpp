// SPDX-License-Identifier: Apache-2.0
#include "Library.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gc3::ptx {

using core::ElementType;

namespace {

/// The name of a type in the targets of CMake, and in the names of the kernels that scale elements.
struct TypeNames {
  const char *target, *mangled;
};
TypeNames namesOf(ElementType type) {
  switch (type) {
  case ElementType::Int8: return {"Int8", "Ia"};
  case ElementType::Uint8: return {"Uint8", "Ih"};
  case ElementType::Int32: return {"Int32", "Ii"};
  case ElementType::Uint32: return {"Uint32", "Ij"};
  case ElementType::Int64: return {"Int64", "Il"};
  case ElementType::Uint64: return {"Uint64", "Im"};
  case ElementType::Half: return {"Half", "I6__half"};
  case ElementType::Float: return {"Float", "If"};
  case ElementType::Double: return {"Double", "Id"};
  case ElementType::Bfloat16: return {"Bfloat16", "I13__nv_bfloat16"};
  case ElementType::Float8E4M3: return {"Fp8e4m3", "I13__nv_fp8_e4m3"};
  case ElementType::Float8E5M2: return {"Fp8e5m2", "I13__nv_fp8_e5m2"};
  }
  __builtin_unreachable();
}

std::string read(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return file ? text.str() : "";
}

void appendChosenCoverage() {
  if (const char *path = std::getenv("EMULATED_PTX_COVERAGE"))
    Library::chosen()->appendCoverage(path);
}

} // namespace

Library *Library::chosen() {
  static Library *const library = [] {
    const char *chosen = std::getenv("EMULATED_PTX");
    if (chosen)
      std::atexit(appendChosenCoverage);
    return chosen ? new Library(chosen) : nullptr; // never destroyed: threads can launch while the process exits
  }();
  return library;
}

/// If nvcc compiles for several GPUs, the names of its files have the GPU.
const Module &Library::moduleOf(const std::string &target, const std::string &source) {
  const std::lock_guard lock(mutex);
  std::unique_ptr<Module> &module = modules[target + "/" + source];
  if (!module) {
    std::string path = folder + "/" + target + "/" + source + ".ptx";
    std::string text = read(path);
    if (text.empty())
      text = read(path = folder + "/" + target + "/" + source + ".compute_90.ptx");
    if (text.empty())
      throw Fault("cannot read '" + path + "'");
    module = std::make_unique<Module>(parse(std::move(path), text));
  }
  return *module;
}

Entry Library::entry(const std::string &target, const std::string &source, const std::string &name) {
  const Module &module = moduleOf(target, source);
  for (const Kernel &kernel : module.kernels)
    if (kernel.name.find(name) != std::string::npos)
      return {&module, &kernel};
  throw Fault(module.path + " has no kernel '" + name + "'");
}

Entry Library::interpreter(ElementType type, kernel::Protocol protocol, bool overNetwork) {
  const std::string name = namesOf(type).target;
  return overNetwork ? entry("GC3GinKernels" + name, "Kernels", "interpret")
                     : entry("GC3Kernels" + name, "Kernels",
                             "interpretILNS0_8ProtocolE" + std::to_string(static_cast<int>(protocol)));
}

bool Library::hasNetwork() const {
  return std::filesystem::exists(folder + "/GC3GinKernelsFloat");
}

Entry Library::multiply(ElementType type) {
  return entry("GC3ScaleKernels", "ScaleKernels", std::string("multiply") + namesOf(type).mangled + "E");
}

Entry Library::divide(ElementType type) {
  return entry("GC3ScaleKernels", "ScaleKernels", std::string("divide") + namesOf(type).mangled + "E");
}

Entry Library::clock() {
  return entry("GC3ScaleKernels", "Clock", "readClock");
}

Entry Library::motion(kernel::Protocol protocol, uint32_t elementBytes) {
  return entry("MotionKernels", "Motion",
               "ProtocolE" + std::to_string(static_cast<int>(protocol)) + "ELj" + std::to_string(elementBytes) + "E");
}

/// Appends a line for each kernel of which a thread has executed anything: the file, the kernel, and for each
/// instruction its line, with a '-' before it if no thread has executed it.
void Library::appendCoverage(const std::string &path) {
  const std::lock_guard lock(mutex);
  std::ofstream file(path, std::ios::app);
  for (const auto &[name, module] : modules)
    for (const Kernel &kernel : module->kernels) {
      file << module->path << ' ' << kernel.name;
      for (size_t i = 0; i < kernel.code.size(); ++i)
        file << (kernel.executed[i] != 0 ? " " : " -") << kernel.code[i].line;
      file << '\n';
    }
}

} // namespace gc3::ptx
