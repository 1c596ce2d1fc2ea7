// SPDX-License-Identifier: Apache-2.0
#include "CheckBundle.h"
#include "Reference.h"
#include "bundle/BundleFile.h"
#include "gc3.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

using namespace gc3;

namespace {

// Limits for programs. The check does not run larger ones, because a small bundle can describe programs that need much
// memory and time.
constexpr int mostRanks = 64;
constexpr int mostPrograms = 4;
constexpr size_t mostBytes = 1 << 20; // in all buffers of a call

using Elements = std::vector<int32_t>;

/// Parameters of one call of a program.
struct CallConditions {
  size_t count;
  gc3Order_t order;
  bool inPlace;
};

/// A loaded bundle. The destructor frees it.
class Trial {
public:
  explicit Trial(unsigned &good) : ran(good) {}
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;
  ~Trial() { gc3BundleFree(bundle); }

  std::string run(std::string_view bytes);

private:
  std::string runProgram(int index);
  std::string runCall(int index, const gc3ProgramInfo_t &info, const CallConditions &call);
  bool makeBuffers(int index, const gc3ProgramInfo_t &info, const CallConditions &call);
  gc3Result_t together(const gc3ProgramInfo_t &info, const CallConditions &call, const std::vector<gc3Comm_t> &comms);
  std::string expect(const char *what, gc3Result_t result, std::initializer_list<gc3Result_t> errors) const;

  gc3Bundle_t bundle = nullptr;
  std::vector<Elements> send, recv; ///< for each rank; in-place calls use only `recv`, with the length of the longer
                                    ///< buffer
  unsigned &ran;
};

} // namespace

/// Returns an empty string if `result` is gc3Success, or if it is one of `errors` and there is a message. Otherwise
/// returns a description.
std::string Trial::expect(const char *what, gc3Result_t result, std::initializer_list<gc3Result_t> errors) const {
  if (result == gc3Success)
    return {};
  std::string text = gc3GetLastError(nullptr);
  bool known = std::find(errors.begin(), errors.end(), result) != errors.end();
  return known && !text.empty() ? "" : std::string(what) + " ended in " + gc3GetErrorString(result) + ": " + text;
}

/// Allocates the buffers of a call. Returns false if they exceed `mostBytes`.
bool Trial::makeBuffers(int index, const gc3ProgramInfo_t &info, const CallConditions &call) {
  send.assign(static_cast<size_t>(info.ranks), {});
  recv.assign(static_cast<size_t>(info.ranks), {});
  size_t left = mostBytes / sizeof(int32_t);
  for (int rank = 0; rank != info.ranks; ++rank) {
    size_t in = 0, out = 0;
    if (gc3ProgramElements(bundle, index, rank, call.count, &in, &out) != gc3Success || in > left || out > left - in)
      return false;
    left -= in + out;
    send[static_cast<size_t>(rank)].assign(call.inPlace ? 0 : in, rank + 1);
    recv[static_cast<size_t>(rank)].assign(call.inPlace ? std::max(in, out) : out, -rank);
  }
  return true;
}

gc3Result_t Trial::together(const gc3ProgramInfo_t &info, const CallConditions &call,
                            const std::vector<gc3Comm_t> &comms) {
  gc3GroupStart();
  for (size_t rank = 0; rank != comms.size(); ++rank) {
    void *to = recv[rank].data();
    gc3RunProgram(comms[rank], info.name, call.inPlace ? to : send[rank].data(), to, call.count, gc3Int32, gc3Sum,
                  nullptr);
  }
  return gc3GroupEnd();
}

std::string Trial::runCall(int index, const gc3ProgramInfo_t &info, const CallConditions &call) {
  if (!makeBuffers(index, info, call))
    return {};
  gc3HostConfig_t config = GC3_HOST_CONFIG_INITIALIZER;
  config.workers = 1;
  config.order = call.order;
  config.allowUnproven = 1;
  std::vector<gc3Comm_t> comms(static_cast<size_t>(info.ranks));
  gc3Result_t result = gc3HostCommInitAll(comms.data(), info.ranks, bundle, &config);
  if (result != gc3Success)
    return expect("making communicators", result, {gc3SystemError});
  std::vector<Elements> before = send;
  result = together(info, call, comms);
  std::string problem =
      expect("running a program", result,
             {gc3InvalidArgument, gc3SystemError, gc3Deadlock, gc3NoProgram, gc3BundleCorrupt, gc3BundleInvalid});
  ran += result == gc3Success;
  for (gc3Comm_t comm : comms)
    gc3CommDestroy(comm);
  return problem.empty() && send != before ? "a send buffer was changed out of place" : problem;
}

std::string Trial::runProgram(int index) {
  gc3ProgramInfo_t info;
  info.size = sizeof info;
  if (gc3Result_t result = gc3BundleProgramInfo(bundle, index, &info); result != gc3Success)
    return expect("describing a program", result, {});
  if (info.ranks > mostRanks)
    return {};
  for (size_t count : {size_t{1}, size_t{7}, size_t{96}})
    for (gc3Order_t order : {gc3OrderFair, gc3OrderAdversarial})
      for (bool inPlace : {false, true})
        if (std::string problem = runCall(index, info, {count, order, inPlace}); !problem.empty())
          return problem;
  return {};
}

std::string Trial::run(std::string_view bytes) {
  gc3Result_t result = gc3BundleLoadMemory(&bundle, bytes.data(), bytes.size());
  if (result != gc3Success)
    return expect("loading", result,
                  {gc3NotABundle, gc3BundleTruncated, gc3BundleTooNew, gc3BundleCorrupt, gc3BundleInvalid});
  int programs = 0;
  gc3BundleProgramCount(bundle, &programs);
  for (int index = 0; index < std::min(programs, mostPrograms); ++index)
    if (std::string problem = runProgram(index); !problem.empty())
      return problem;
  return {};
}

/// Decodes the postcondition of a program as gc3-run does, to test that this does not crash.
static void loadPostcondition(const bundle::BundleFile &file, uint32_t index) {
  const auto &info = file.program(index);
  const bundle::BundleResult<bundle::CheckView> check = file.check(index);
  if (!check.ok())
    return;
  std::vector<uint64_t> in, out;
  for (uint32_t r = 0; r != info.ranks(); ++r) {
    const bundle::BundleResult<bundle::RankView> view = file.rank(index, r);
    if (!view.ok())
      return;
    in.push_back(view->inputSlots / info.subdivision());
    out.push_back(view->outputSlots / info.subdivision());
  }
  run::Postcondition().load(*check, in, out, {0, info.ranks()});
}

/// Decodes the postconditions, which gc3-run reads and applications do not.
static void readForChecks(std::string_view bytes) {
  const auto file = bundle::BundleFile::openMemory(bytes.data(), bytes.size());
  if (file.ok())
    for (uint32_t index = 0; index != (*file)->programCount(); ++index)
      loadPostcondition(**file, index);
}

std::string gc3::test::checkBundle(std::string_view bytes, unsigned &ran) {
  readForChecks(bytes);
  return Trial(ran).run(bytes);
}
