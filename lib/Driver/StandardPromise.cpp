// SPDX-License-Identifier: Apache-2.0
// First compares the buffers, and evaluates the standard collective only if they are equal. So the standard collective
// is never larger than the program's own collective.
#include "StandardPromise.h"
#include "gc3/Common/StandardCollective.h"
#include "gc3/Sema/Sema.h"
#include "gc3/Support/Quantity.h"
#include <algorithm>
#include <limits>

using namespace gc3;
using namespace gc3::driver;

using common::Blocks;
using common::StandardCollective;

/// Returns text such as `input[4][2]` or `no input`.
static std::string describe(const char *buffer, const ir::Shape &shape) {
  if (shape.total() == 0)
    return std::string("no ") + buffer;
  return std::string(buffer) + "[" + std::to_string(shape.blocks) + "][" + std::to_string(shape.chunks) + "]";
}

namespace {

/// Checks one program whose collective has the name of a standard collective.
class Check {
public:
  Check(Session &session, const StandardCollective &standard, const ir::ProgramInfo &info)
      : session(session), standard(standard), info(info), own(info.collective), root(ir::rootOf(standard, own)) {}

  bool run() {
    return checkRoot() && checkBuffer("input", standard.input, own.hasInput, own.input) &&
           checkBuffer("output", standard.output, own.hasOutput, own.output) && checkPromise();
  }

private:
  bool checkRoot();
  bool checkBuffer(const char *name, Blocks wanted, llvm::ArrayRef<uint8_t> present, ir::Shape shape);
  bool checkPromise();
  bool refuse(const std::string &what);
  std::string wantedText() const;

  Session &session;
  const StandardCollective &standard;
  const ir::ProgramInfo &info;
  const ir::Collective &own;
  const std::optional<uint32_t> root;
};

} // namespace

bool Check::refuse(const std::string &what) {
  session.diags.error(DiagId::NotStandard, info.nameRange,
                      "program '" + info.name + "': '" + own.name + "' is a standard collective, and " + what +
                          "; give the collective another name");
  return false;
}

bool Check::checkRoot() {
  if (!standard.hasRoot() || root)
    return true;
  return refuse(std::string("no rank has an ") + (isOnRoot(standard.input) ? "input" : "output"));
}

bool Check::checkBuffer(const char *name, Blocks wanted, llvm::ArrayRef<uint8_t> present, ir::Shape shape) {
  uint32_t chunks = std::max({own.input.chunks, own.output.chunks, 1U});
  for (uint32_t rank = 0; rank != own.ranks; ++rank) {
    ir::Shape found = present[rank] ? shape : ir::Shape{};
    ir::Shape expected{isWide(wanted) ? own.ranks : 1, chunks};
    if (isOnRoot(wanted) && rank != root)
      expected = {};
    if (found.blocks != expected.blocks || found.chunks != expected.chunks)
      return refuse("rank " + std::to_string(rank) + " has " + describe(name, found) + " instead of " +
                    describe(name, expected));
  }
  return true;
}

/// Returns the text of a program without steps that implements the standard collective with buffers of the same size.
std::string Check::wantedText() const {
  return "program wanted implements " + own.name + "(ranks = " + std::to_string(own.ranks) +
         ", chunks = " + std::to_string(own.input.chunks) + (root ? ", root = " + std::to_string(*root) : "") +
         ") { }\n";
}

bool Check::checkPromise() {
  sema::SemaOptions unlimited;
  unlimited.maxSteps = unlimited.maxSlots = unlimited.maxRuns = std::numeric_limits<uint64_t>::max();
  std::optional<ir::Collective> wanted =
      sema::analyzeCollective(session.sources, session.diags, "collective", wantedText(), unlimited);
  if (!wanted)
    return false;
  std::optional<ir::Location> place = ir::firstDifference(own, *wanted);
  if (!place)
    return true;
  auto promised = [&](const ir::Collective &collective) {
    uint32_t value = collective.post.wanted(place->rank, place->index);
    return value == ir::Postcondition::Anything ? "nothing" : ir::describeValue(collective.post, value - 1);
  };
  return refuse("output(" + std::to_string(place->rank) + ", " + std::to_string(place->index) + ") is promised " +
                promised(own) + " instead of " + promised(*wanted));
}

bool gc3::driver::checkStandardPromise(Session &session, const ir::ProgramInfo &info) {
  const StandardCollective *standard = common::findStandard(info.collective.name);
  if (!standard)
    return true;
  auto timer = session.times.start("promises");
  return Check(session, *standard, info).run();
}
