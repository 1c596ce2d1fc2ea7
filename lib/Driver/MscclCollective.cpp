// SPDX-License-Identifier: Apache-2.0
// Writes the text of a program without steps that implements the requested collective, and evaluates this text.
#include "MscclCollective.h"
#include "gc3/Common/StandardCollective.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>

using namespace gc3;
using namespace gc3::driver;

namespace {

/// `FILE.gc3:NAME(ARGUMENTS)`; only NAME is required.
struct Request {
  llvm::StringRef file, name, arguments;
};

struct Argument {
  llvm::StringRef name;
  std::string value;
};

} // namespace

static Request parseRequest(llvm::StringRef text) {
  Request request;
  size_t open = std::min(text.find('('), text.size());
  size_t colon = text.take_front(open).rfind(':');
  if (colon != llvm::StringRef::npos)
    request.file = text.take_front(colon);
  size_t begin = colon == llvm::StringRef::npos ? 0 : colon + 1;
  request.name = text.slice(begin, open).trim();
  request.arguments = text.drop_front(open).trim();
  request.arguments.consume_front("(");
  request.arguments.consume_back(")");
  return request;
}

/// Returns the arguments that the file determines, for a standard collective.
static std::array<Argument, 3> argumentsOf(const common::StandardCollective &collective,
                                           const imports::MscclAlgorithm &algorithm, bool inPlace) {
  uint32_t ranks = algorithm.info.collective.ranks;
  return {{{"ranks", std::to_string(ranks)},
           {"chunks", std::to_string(collective.isBlockwise() ? algorithm.chunks / ranks : algorithm.chunks)},
           {"inplace", inPlace ? "true" : "false"}}};
}

/// Splits the arguments of a request at commas outside brackets. Leaves out empty arguments.
static std::vector<llvm::StringRef> split(llvm::StringRef arguments) {
  std::vector<llvm::StringRef> parts;
  size_t begin = 0, depth = 0;
  for (size_t i = 0; i <= arguments.size(); ++i) {
    char c = i == arguments.size() ? ',' : arguments[i];
    depth += c == '(' || c == '[';
    depth -= depth != 0 && (c == ')' || c == ']');
    if (c != ',' || (depth != 0 && i != arguments.size()))
      continue;
    if (llvm::StringRef part = arguments.slice(begin, i).trim(); !part.empty())
      parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

/// Checks that the request sets no argument that the file already determines; otherwise reports errors and returns
/// false. The errors refer to the user's text, not to the program text that is made from it.
static bool checkRequest(Session &session, const Request &request, llvm::ArrayRef<Argument> ofFile) {
  const std::string &requested = session.options.collective;
  uint32_t base = 0;
  for (llvm::StringRef part : split(request.arguments)) {
    // An argument without a name is taken for the first parameter, which is the number of ranks in every standard
    // collective.
    llvm::StringRef name = part.contains('=') ? part.split('=').first.trim() : ofFile.front().name;
    const auto *same = llvm::find_if(ofFile, [&](const Argument &argument) { return argument.name == name; });
    if (same == ofFile.end())
      continue;
    if (base == 0)
      base = session.sources.add("--collective", requested);
    auto begin = base + static_cast<uint32_t>(part.data() - requested.data());
    session.diags.error(DiagId::WrongArguments, {begin, begin + static_cast<uint32_t>(part.size())},
                        "the file already sets " + same->name.str() + " = " + same->value + "; leave '" + part.str() +
                            "' out");
  }
  return base == 0;
}

/// Returns a collective that promises nothing, for a file that defines its own collective without a postcondition.
static ir::Collective unknown(Session &session, const imports::MscclAlgorithm &algorithm, bool inPlace) {
  if (!inPlace || !algorithm.outOfPlace) // a file that serves calls in place and out of place gets only one remark
    session.diags.remark(algorithm.collectiveRange, "the file defines its own collective without a postcondition, so "
                                                    "its output is not checked; name the collective with --collective");
  return imports::unknownCollective(algorithm, inPlace);
}

std::optional<ir::Collective> gc3::driver::collectiveOf(Session &session, const imports::MscclAlgorithm &algorithm,
                                                        bool inPlace) {
  const std::string &requested = session.options.collective;
  Request request =
      parseRequest(requested.empty() ? llvm::StringRef(algorithm.info.collective.name) : llvm::StringRef(requested));
  const common::StandardCollective *known = request.file.empty() ? common::findStandard(request.name) : nullptr;
  if (requested.empty() && !known)
    return unknown(session, algorithm, inPlace);
  if (requested.empty() && known->hasRoot()) {
    session.diags.error(DiagId::WrongArguments, algorithm.collectiveRange,
                        "the file does not name the root of '" + request.name.str() + "'; give it with --collective='" +
                            request.name.str() + "(root = 0)'");
    return std::nullopt;
  }
  uint32_t ranks = algorithm.info.collective.ranks;
  if (known && known->isBlockwise() && algorithm.chunks % ranks != 0) {
    session.diags.error(DiagId::BadShape, algorithm.chunksRange,
                        "'" + request.name.str() + "' on " + std::to_string(ranks) + " ranks needs a multiple of " +
                            std::to_string(ranks) + " for 'nchunksperloop', not " + std::to_string(algorithm.chunks));
    return std::nullopt;
  }
  std::string arguments = request.arguments.str();
  if (known) {
    std::array<Argument, 3> ofFile = argumentsOf(*known, algorithm, inPlace);
    if (!checkRequest(session, request, ofFile))
      return std::nullopt;
    for (const Argument &argument : ofFile)
      arguments += (arguments.empty() ? "" : ", ") + argument.name.str() + " = " + argument.value;
  }
  std::string text = request.file.empty() ? "" : "import \"" + request.file.str() + "\"; ";
  text += "program imported implements " + request.name.str() + "(" + arguments + ") { }\n";
  std::optional<ir::Collective> collective =
      sema::analyzeCollective(session.sources, session.diags, requested.empty() ? "collective" : "--collective", text,
                              session.options.sema, &session.filesRead);
  if (collective && collective->inPlace() != inPlace) {
    session.diags.error(DiagId::BadAlias, algorithm.collectiveRange,
                        std::string("the file is for calls ") + (inPlace ? "in" : "out of") + " place, but '" +
                            collective->name + "' with these arguments is not");
    return std::nullopt;
  }
  return collective;
}
