// SPDX-License-Identifier: Apache-2.0
#include "Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc3;
using namespace gc3::driver;

namespace {
struct Mistake {
  llvm::StringRef title;
  std::string cause, remedy; ///< text as lines, each with its '\n'
  std::string session;       ///< lines of commands, then lines of the message
  llvm::StringRef example;   ///< text of the example file; empty if the commands need no file
};
} // namespace

static llvm::StringRef takeLine(llvm::StringRef &text) {
  auto [line, rest] = text.split('\n');
  text = rest;
  return line;
}

static Mistake read(llvm::StringRef text) {
  Mistake mistake;
  text.consume_front("// ");
  mistake.title = takeLine(text);
  std::string *paragraph = &mistake.cause;
  while (text.consume_front("// ")) {
    llvm::StringRef line = takeLine(text);
    if (line.consume_front("Remedy: "))
      paragraph = &mistake.remedy;
    bool isMessage = line.consume_front("> ");
    bool isSession = isMessage || line.take_front(2) == "$ ";
    (isSession ? mistake.session : *paragraph) += line.str() + '\n';
  }
  mistake.example = text;
  return mistake;
}

static void printIndented(llvm::StringRef text, llvm::raw_ostream &out) {
  while (!text.empty())
    out << "    " << takeLine(text) << '\n';
}

static void printLine(DiagId id, llvm::raw_ostream &out) {
  out << name(id) << ": " << help(id) << '\n';
}

static std::vector<std::string> allIds() {
  std::vector<std::string> all;
  for (int id = 0; id != static_cast<int>(DiagId::Count); ++id)
    all.emplace_back(name(static_cast<DiagId>(id)));
  return all;
}

std::optional<DiagId> gc3::driver::findId(std::string_view id) {
  std::vector<std::string> all = allIds();
  auto found = llvm::find(all, id);
  return found == all.end() ? std::nullopt : std::optional(static_cast<DiagId>(found - all.begin()));
}

std::vector<std::string> gc3::driver::similarIds(std::string_view word) {
  std::vector<std::string> all = allIds(), similar;
  std::string nearest = nearestName(word, all);
  llvm::copy_if(all, std::back_inserter(similar), [&](const std::string &id) {
    return id == nearest || (word.size() >= 3 && id.find(word) != std::string::npos);
  });
  return similar;
}

void gc3::driver::listIds(llvm::raw_ostream &out) {
  for (int id = 0; id != static_cast<int>(DiagId::Count); ++id)
    printLine(static_cast<DiagId>(id), out);
}

void gc3::driver::explain(DiagId id, llvm::raw_ostream &out) {
  printLine(id, out);
  llvm::StringRef wanted(name(id));
  const EmbeddedFile *file =
      llvm::find_if(mistakes(), [&](const EmbeddedFile &other) { return llvm::sys::path::stem(other.name) == wanted; });
  if (file == mistakes().end())
    return;
  Mistake mistake = read(file->text);
  out << "\nCause: " << mistake.cause << "\nExample: " << mistake.title << "\n\n";
  printIndented(mistake.example, out);
  out << (mistake.example.empty() ? "" : "\n");
  printIndented(mistake.session, out);
  out << "\nRemedy: " << mistake.remedy;
}
