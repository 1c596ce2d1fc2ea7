// SPDX-License-Identifier: Apache-2.0
// Replaces output files atomically: all temporary files are complete before the first of them is renamed.
#include "Output.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>

using namespace gc3::driver;
namespace fs = llvm::sys::fs;

namespace {

/// An output in progress. Its bytes are in a temporary file, or not yet written if the file at its path cannot be
/// replaced.
class Pending {
public:
  explicit Pending(const OutputFile &file) : file(file) {}
  Pending(const Pending &) = delete;
  Pending &operator=(const Pending &) = delete;
  ~Pending() { discard(); }

  /// prepare() and commit() return an empty string on success, else an error message.
  std::string prepare();
  std::string commit();

  /// Returns true if the bytes are in a temporary file.
  bool renames() const { return !temporary.empty(); }

private:
  std::string writeDirectly();
  std::error_code openTemporary(int &descriptor);
  void discard();

  const OutputFile &file;
  std::string target;    // the path with symbolic links resolved
  std::string temporary; // path of the temporary file next to it; empty if there is none
};

} // namespace

/// Returns the path with all symbolic links resolved. If the file does not exist, resolves only its directory.
static std::string resolved(const std::string &path) {
  llvm::SmallString<256> real;
  if (!fs::real_path(path, real))
    return real.str().str();
  llvm::StringRef directory = llvm::sys::path::parent_path(path);
  if (fs::real_path(directory.empty() ? "." : directory, real))
    return path;
  llvm::sys::path::append(real, llvm::sys::path::filename(path));
  return real.str().str();
}

static std::string takeError(llvm::raw_fd_ostream &out) {
  if (!out.has_error())
    return {};
  std::string message = out.error().message();
  out.clear_error();
  return message;
}

std::string Pending::writeDirectly() {
  std::error_code error;
  llvm::raw_fd_ostream out(file.path, error, fs::OF_None);
  if (error)
    return error.message();
  out << file.bytes;
  out.close();
  return takeError(out);
}

/// Creates a temporary file next to the target. Does not use LLVM's TempFile, which replaces each '%' in a path by a
/// random digit.
std::error_code Pending::openTemporary(int &descriptor) {
  std::error_code error;
  unsigned attempt = 0;
  do {
    temporary =
        target + "." + std::to_string(llvm::sys::Process::getProcessId()) + "-" + std::to_string(attempt++) + ".tmp";
    error = fs::openFileForWrite(temporary, descriptor, fs::CD_CreateNew);
  } while (error == std::errc::file_exists);
  if (error)
    temporary.clear();
  else
    llvm::sys::RemoveFileOnSignal(temporary);
  return error;
}

std::string Pending::prepare() {
  fs::file_status status;
  bool special = file.path == "-" || (!fs::status(file.path, status) && status.type() != fs::file_type::regular_file);
  if (special)
    return status.type() == fs::file_type::directory_file ? std::make_error_code(std::errc::is_a_directory).message()
                                                          : "";
  target = resolved(file.path);
  int descriptor = -1;
  if (std::error_code error = openTemporary(descriptor))
    return error.message();
  llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
  out << file.bytes;
  out.close();
  return takeError(out);
}

std::string Pending::commit() {
  if (!renames())
    return writeDirectly();
  if (std::error_code error = fs::rename(temporary, target))
    return error.message();
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return "";
}

void Pending::discard() {
  if (!renames())
    return;
  fs::remove(temporary);
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

bool gc3::driver::sameFile(const std::string &a, const std::string &b) {
  return a != "-" && b != "-" && (fs::equivalent(a, b) || resolved(a) == resolved(b));
}

std::optional<WriteFailure> gc3::driver::writeOutputs(llvm::ArrayRef<OutputFile> files) {
  std::deque<Pending> pending; // a deque, because its elements never move in memory
  for (const OutputFile &file : files)
    if (std::string problem = pending.emplace_back(file).prepare(); !problem.empty())
      return WriteFailure{file.path, problem};
  // Outputs without a temporary file are written first, because such a write can still fail, while a rename rarely
  // fails.
  for (bool renames : {false, true})
    for (size_t i = 0; i != files.size(); ++i)
      if (pending[i].renames() == renames)
        if (std::string problem = pending[i].commit(); !problem.empty())
          return WriteFailure{files[i].path, problem};
  return std::nullopt;
}

/// Returns the path as make and Ninja read it: with the escapes that gcc writes, and an escaped colon. Does not escape
/// '%', although make needs this in targets, because CMake cannot read that escape. Doubles backslashes only before an
/// escaped character.
static std::string escaped(llvm::StringRef path) {
  std::string out;
  size_t backslashes = 0; // number of backslashes at the end of `out`
  for (char c : path) {
    if (llvm::StringRef(" \t#:").contains(c))
      out.append(backslashes + 1, '\\');
    else if (c == '$')
      out += '$';
    out += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return out;
}

std::string gc3::driver::dependencyRule(llvm::StringRef target, llvm::ArrayRef<std::string> files, bool phony) {
  std::string rule = escaped(target) + ":";
  for (const std::string &file : files)
    rule += " \\\n  " + escaped(file);
  rule += "\n";
  if (phony)
    for (const std::string &file : files)
      rule += "\n" + escaped(file) + ":\n";
  return rule;
}
