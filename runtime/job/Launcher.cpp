// SPDX-License-Identifier: Apache-2.0
#include "job/Launcher.h"

#include "bundle/Container.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace gc3::job {

using core::Outcome;
using core::Result;

namespace {

constexpr uint32_t mostRanks = 1 << 20;
constexpr uint32_t mostFirstPort = UINT16_MAX - (Launch::portCount - 1);

/// What it means that a process has the variable of a launcher's rank without another mark.
enum class Partial : uint8_t {
  Mistake, ///< a variable is missing
  NoRank,  ///< the process is no rank, such as a batch script
};

/// The names of a launcher's variables. Empty names: it has no such variable.
struct Scheme {
  std::string_view launcher;
  std::array<std::string_view, 2> marks; ///< the launcher has started the process if they are set
  std::string_view rank, ranks, localRank, localRanks;
  std::array<std::string_view, 2> job; ///< variables that identify the job together
  Partial partial = Partial::Mistake;
};

constexpr Scheme schemes[] = {
    {"gc3", {"GC3_RANK"}, "GC3_RANK", "GC3_RANKS", "GC3_LOCAL_RANK", "GC3_LOCAL_RANKS", {"GC3_JOB"}},
    {"torchrun",
     {"RANK", "WORLD_SIZE"},
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
    {"Open MPI",
     {"OMPI_COMM_WORLD_RANK"},
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"MPICH", {"PMI_RANK", "MPI_LOCALRANKID"}, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", {}},
    {"Slurm",
     {"SLURM_PROCID", "SLURM_STEP_ID"},
     "SLURM_PROCID",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     {},
     {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     Partial::NoRank},
};

/// Returns whether a user can have started the processes.
bool isOfUser(std::string_view launcher) {
  return launcher == "gc3";
}

/// Returns the subject of errors about what variables do not say.
std::string source(std::string_view launcher) {
  return isOfUser(launcher) ? "the environment" : std::string(launcher);
}

Outcome invalid(const std::string &text) {
  return {gc3InvalidUsage, text};
}

std::optional<uint32_t> parseNumber(std::string_view text) {
  uint32_t number = 0;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The variables of a process, and the first error in them.
class Variables {
public:
  explicit Variables(std::span<const char *const> environment) : environment(environment) {}

  /// Returns the value of a variable; empty if it is not set.
  std::string_view text(std::string_view name) const {
    for (const std::string_view entry : environment)
      if (!name.empty() && entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
        return entry.substr(name.size() + 1);
    return {};
  }
  bool has(std::string_view name) const { return !text(name).empty(); }

  /// Returns the variable as a number from `least` to `most`.
  uint32_t number(std::string_view name, uint32_t least, uint32_t most, std::string_view launcher) {
    if (!has(name)) {
      fail((isOfUser(launcher) ? "GC3_RANK is set" : std::string(launcher) + " has started this process") + ", but " +
           std::string(name) + " is not set");
      return least;
    }
    const std::optional<uint32_t> value = parseNumber(text(name));
    if (value && *value >= least && *value <= most)
      return *value;
    fail(std::string(name) + " is '" + std::string(text(name)) + "'; it can be a number from " + std::to_string(least) +
         " to " + std::to_string(most));
    return least;
  }

  void fail(const std::string &error) {
    if (outcome.ok())
      outcome = invalid(error);
  }
  Outcome outcome;

private:
  std::span<const char *const> environment;
};

const Scheme *findScheme(const Variables &variables) {
  const auto found = std::ranges::find_if(schemes, [&](const Scheme &scheme) {
    return std::ranges::all_of(scheme.marks, [&](auto mark) { return mark.empty() || variables.has(mark); });
  });
  return found == std::end(schemes) ? nullptr : found;
}

/// Returns an error if the rank of a launcher is set, but another mark of it is not: such processes would run
/// independently.
Outcome checkNoLauncher(const Variables &variables) {
  for (const Scheme &scheme : schemes)
    for (const std::string_view mark : scheme.marks)
      if (scheme.partial == Partial::Mistake && variables.has(scheme.rank) && !mark.empty() && !variables.has(mark))
        return invalid(std::string(scheme.rank) + " is set, but " + std::string(mark) + " is not set; if " +
                       std::string(scheme.launcher) + " has started this process, set it, else unset " +
                       std::string(scheme.rank));
  return {};
}

/// Returns the number of ranks on this host, from a list such as "2(x3),1" of the ranks of each host, and the number of
/// the host in it; nothing if the list is malformed.
std::optional<uint32_t> countOfHost(std::string_view list, uint32_t host) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    const size_t bracket = item.find("(x");
    const std::optional<uint32_t> count = parseNumber(item.substr(0, bracket));
    std::optional<uint32_t> hosts = 1;
    if (bracket != std::string_view::npos)
      hosts = item.ends_with(')') ? parseNumber(item.substr(bracket + 2, item.size() - bracket - 3)) : std::nullopt;
    if (!count || !hosts)
      return std::nullopt;
    if (host < *hosts)
      return count;
    host -= *hosts;
  }
  return std::nullopt;
}

/// Reads the ranks of this host from Slurm's variables.
uint32_t readSlurmLocalRanks(Variables &variables, uint32_t ranks) {
  const uint32_t host = variables.number("SLURM_NODEID", 0, mostRanks, "Slurm");
  const std::string_view list = variables.text("SLURM_STEP_TASKS_PER_NODE");
  const std::optional<uint32_t> count = countOfHost(list, host);
  if (count && *count >= 1 && *count <= ranks)
    return *count;
  variables.fail("SLURM_STEP_TASKS_PER_NODE is '" + std::string(list) + "'; it can be a list such as 2(x3),1 with a " +
                 "number for each host, and SLURM_NODEID is " + std::to_string(host));
  return 1;
}

/// Sets the place among the ranks of this host. A user can omit it.
void readLocalRank(Variables &variables, const Scheme &scheme, Launch &launch) {
  if (isOfUser(launch.launcher) && !variables.has(scheme.localRank) && !variables.has(scheme.localRanks)) {
    launch.localRanks = 0;
    return;
  }
  launch.localRanks = scheme.localRanks.empty() ? readSlurmLocalRanks(variables, launch.ranks)
                                                : variables.number(scheme.localRanks, 1, launch.ranks, launch.launcher);
  launch.localRank = variables.number(scheme.localRank, 0, launch.localRanks - 1, launch.launcher);
}

/// Returns the first host of a list such as "gpu[01-03,7],login"; empty if the list is malformed.
std::string firstHost(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      host += list.front();
      list.remove_prefix(1);
      continue;
    }
    const size_t end = list.find(']');
    if (end == std::string_view::npos)
      return {};
    const std::string_view ranges = list.substr(1, end - 1);
    host += ranges.substr(0, ranges.find_first_of(",-"));
    list.remove_prefix(end + 1);
  }
  return host;
}

struct Root {
  std::string_view host, port;
};

/// Parses HOST, HOST:PORT, ADDRESS6 or [ADDRESS6]:PORT. Returns nothing if the text is malformed.
std::optional<Root> parseRoot(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ':'))
      return std::nullopt;
    return Root{text.substr(1, end - 1), text.substr(std::min(end + 2, text.size()))};
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
    return Root{text, {}};
  return Root{text.substr(0, colon), text.substr(colon + 1)};
}

/// Sets the host and the port of GC3_ROOT. Returns whether it is set.
bool readRoot(Variables &variables, Launch &launch) {
  const std::string_view text = variables.text("GC3_ROOT");
  if (text.empty())
    return false;
  const std::optional<Root> root = parseRoot(text);
  const std::optional<uint32_t> port = root && !root->port.empty() ? parseNumber(root->port) : 0;
  const bool hasEmptyPort = root && root->port.empty() && text.ends_with(':') && root->host != text;
  if (!root || root->host.empty() || hasEmptyPort || !port || *port > mostFirstPort ||
      (*port == 0 && !root->port.empty())) {
    variables.fail("GC3_ROOT is '" + std::string(text) + "'; it can be HOST or HOST:PORT, with a port from 1 to " +
                   std::to_string(mostFirstPort));
    return true;
  }
  launch.rootHost = root->host;
  launch.firstPort = static_cast<uint16_t>(*port);
  return true;
}

/// Returns the host of rank 0, if neither GC3_ROOT nor MASTER_ADDR names it.
std::string hostOfLauncher(Variables &variables, const Launch &launch) {
  if (launch.localRanks == launch.ranks)
    return "127.0.0.1";
  if (launch.launcher == "Slurm" && !variables.text("SLURM_DISTRIBUTION").starts_with("arbitrary")) {
    std::string host = firstHost(variables.text("SLURM_STEP_NODELIST"));
    if (!host.empty())
      return host;
    variables.fail("SLURM_STEP_NODELIST is '" + std::string(variables.text("SLURM_STEP_NODELIST")) +
                   "'; it can be a list of hosts such as gpu[01-03,7]");
  }
  variables.fail(source(launch.launcher) +
                 " does not say which host has rank 0; set GC3_ROOT or MASTER_ADDR to its name");
  return {};
}

/// Returns the text that identifies the job; empty if the launcher has none.
std::string readJob(const Variables &variables, const Scheme &scheme) {
  std::string job;
  for (const std::string_view name : scheme.job)
    if (variables.has(name))
      job += std::string(name) + "=" + std::string(variables.text(name)) + " ";
  return job;
}

/// Returns the first port of a job. Other programs seldom have the ports below 32768, where the system's own begin.
uint16_t portOf(const std::string &job) {
  constexpr uint32_t least = 10000, most = 32768 - Launch::portCount;
  return static_cast<uint16_t>(least + bundle::checksum(job.data(), job.size()) % (most - least));
}

/// Sets the host, the port and the key. Rank 0's port is not MASTER_PORT, where torchrun's store listens.
void readMeetingPoint(Variables &variables, const Scheme &scheme, Launch &launch) {
  const bool hasRoot = readRoot(variables, launch);
  if (!hasRoot)
    launch.rootHost =
        variables.has("MASTER_ADDR") ? std::string(variables.text("MASTER_ADDR")) : hostOfLauncher(variables, launch);
  if (launch.firstPort == 0 && variables.has("MASTER_PORT")) {
    const uint32_t port = variables.number("MASTER_PORT", 1, UINT16_MAX, launch.launcher);
    launch.firstPort = static_cast<uint16_t>(port < mostFirstPort ? port + 1 : port - Launch::portCount);
  }
  const std::string job = readJob(variables, scheme);
  if (job.empty() && launch.firstPort == 0)
    variables.fail(source(launch.launcher) +
                   " gives the job no name; set GC3_ROOT to HOST:PORT, the host of rank 0 and a free port");
  if (launch.firstPort == 0)
    launch.firstPort = portOf(job);
  launch.key = launch.launcher + " " + job + launch.rootHost + ":" + std::to_string(launch.firstPort);
}

} // namespace

Result<std::optional<Launch>> readLaunch(std::span<const char *const> environment) {
  Variables variables(environment);
  const Scheme *scheme = findScheme(variables);
  if (!scheme) {
    const Outcome outcome = checkNoLauncher(variables);
    return outcome.ok() ? Result<std::optional<Launch>>(std::optional<Launch>()) : outcome;
  }
  Launch launch;
  launch.launcher = scheme->launcher;
  launch.ranks = variables.number(scheme->ranks, 1, mostRanks, launch.launcher);
  launch.rank = variables.number(scheme->rank, 0, launch.ranks - 1, launch.launcher);
  readLocalRank(variables, *scheme, launch);
  readMeetingPoint(variables, *scheme, launch);
  if (!variables.outcome.ok())
    return variables.outcome;
  return std::optional(std::move(launch));
}

} // namespace gc3::job
