// SPDX-License-Identifier: Apache-2.0
// The variables of launchers. The samples are those that the launchers set.
#include "Members.h"

#include "job/Launcher.h"

using namespace gc3;
using namespace gc3::job;

namespace {

using Environment = std::vector<std::string>;

const Environment torchrun = {
    "RANK=3",          "WORLD_SIZE=8",      "LOCAL_RANK=1",           "LOCAL_WORLD_SIZE=2",
    "MASTER_ADDR=n01", "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=r7", "TORCHELASTIC_RESTART_COUNT=0"};
const Environment openMpi = {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=3",
                             "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=2863857665"};
const Environment mpich = {"PMI_RANK=1",        "PMI_SIZE=2", "MPI_LOCALRANKID=1",
                           "MPI_LOCALNRANKS=2", "PMI_FD=8",   "GC3_ROOT=localhost:4000"};
const Environment slurm = {"SLURM_PROCID=2",  "SLURM_NTASKS=5",
                           "SLURM_LOCALID=0", "SLURM_JOB_ID=77",
                           "SLURM_STEP_ID=1", "SLURM_STEP_NODELIST=gpu[01-02,7]",
                           "SLURM_NODEID=1",  "SLURM_STEP_TASKS_PER_NODE=2(x2),1"};
const Environment gc3Run = {
    "GC3_RANK=1", "GC3_RANKS=2", "GC3_LOCAL_RANK=1", "GC3_LOCAL_RANKS=2", "GC3_ROOT=127.0.0.1:4000", "GC3_JOB=x"};

Environment operator+(Environment first, const Environment &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Returns the environment with other values. An entry without a `=` removes the variable.
Environment with(Environment entries, const Environment &changes) {
  for (const std::string &change : changes) {
    const std::string name = change.substr(0, change.find('=')) + "=";
    std::erase_if(entries, [&](const std::string &entry) { return entry.starts_with(name); });
    if (change.find('=') != std::string::npos)
      entries.push_back(change);
  }
  return entries;
}

core::Result<std::optional<Launch>> readFrom(const Environment &entries) {
  std::vector<const char *> pointers;
  for (const std::string &entry : entries)
    pointers.push_back(entry.c_str());
  return readLaunch(pointers);
}

Launch launchOf(const Environment &entries) {
  const auto read = readFrom(entries);
  EXPECT_TRUE(read.ok()) << read.outcome().text;
  EXPECT_TRUE(read.ok() && *read);
  return read.ok() && *read ? **read : Launch{};
}

std::string errorOf(const Environment &entries) {
  const core::Outcome outcome = readFrom(entries).outcome();
  EXPECT_EQ(outcome.code, gc3InvalidUsage);
  return outcome.text;
}

TEST(Launcher, EachLauncherDescribesTheJob) {
  EXPECT_EQ(launchOf(torchrun), (Launch{"torchrun", 3, 8, 1, 2, "n01", 29501,
                                        "torchrun TORCHELASTIC_RUN_ID=r7 TORCHELASTIC_RESTART_COUNT=0 n01:29501"}));
  const Launch ofOpenMpi = launchOf(openMpi);
  EXPECT_EQ(ofOpenMpi, (Launch{"Open MPI", 3, 4, 3, 4, "127.0.0.1", ofOpenMpi.firstPort,
                               "Open MPI PMIX_NAMESPACE=2863857665 127.0.0.1:" + std::to_string(ofOpenMpi.firstPort)}));
  EXPECT_GE(ofOpenMpi.firstPort, 10000U);
  EXPECT_LT(ofOpenMpi.firstPort, 32768U - Launch::portCount);
  EXPECT_EQ(launchOf(mpich), (Launch{"MPICH", 1, 2, 1, 2, "localhost", 4000, "MPICH localhost:4000"}));
  const Launch ofSlurm = launchOf(slurm);
  EXPECT_EQ(ofSlurm, (Launch{"Slurm", 2, 5, 0, 2, "gpu01", ofSlurm.firstPort,
                             "Slurm SLURM_JOB_ID=77 SLURM_STEP_ID=1 gpu01:" + std::to_string(ofSlurm.firstPort)}));
  EXPECT_EQ(launchOf(gc3Run), (Launch{"gc3", 1, 2, 1, 2, "127.0.0.1", 4000, "gc3 GC3_JOB=x 127.0.0.1:4000"}));
}

TEST(Launcher, AUserCanOmitThePlaceOnTheHost) {
  const Environment least = {"GC3_RANK=1", "GC3_RANKS=2", "GC3_ROOT=a:4000"};
  EXPECT_EQ(launchOf(least), (Launch{"gc3", 1, 2, 0, 0, "a", 4000, "gc3 a:4000"}));
  EXPECT_EQ(errorOf(with(least, {"GC3_RANKS"})), "GC3_RANK is set, but GC3_RANKS is not set");
  EXPECT_EQ(errorOf(with(least, {"GC3_LOCAL_RANK=0"})), "GC3_RANK is set, but GC3_LOCAL_RANKS is not set");
  EXPECT_EQ(errorOf(with(least, {"GC3_LOCAL_RANKS=1"})), "GC3_RANK is set, but GC3_LOCAL_RANK is not set");
  EXPECT_EQ(errorOf(with(least, {"GC3_ROOT=a"})),
            "the environment gives the job no name; set GC3_ROOT to HOST:PORT, the host of rank 0 and a free port");
  EXPECT_EQ(errorOf(with(least, {"GC3_ROOT"})),
            "the environment does not say which host has rank 0; set GC3_ROOT or MASTER_ADDR to its name");
}

TEST(Launcher, NoLauncher) {
  for (const Environment &entries : {Environment{}, Environment{"WORLD_SIZE=3"}, Environment{"PMI_SIZE=2"},
                                     Environment{"SLURM_PROCID=0", "SLURM_NTASKS=8"}, Environment{"GC3_ROOT=host"},
                                     Environment{"RANK=", "WORLD_SIZE=4"}, Environment{"RANK", "WORLD_SIZE=4"}}) {
    const auto read = readFrom(entries);
    EXPECT_TRUE(read.ok() && !*read);
  }
}

TEST(Launcher, ARankWithoutOtherMarksIsAnError) {
  EXPECT_EQ(errorOf({"RANK=3"}),
            "RANK is set, but WORLD_SIZE is not set; if torchrun has started this process, set it, else unset RANK");
  EXPECT_EQ(errorOf(with(mpich, {"MPI_LOCALRANKID"})),
            "PMI_RANK is set, but MPI_LOCALRANKID is not set; if MPICH has started this process, set it, else unset "
            "PMI_RANK");
  EXPECT_EQ(launchOf(slurm + Environment{"RANK=3", "PMI_RANK=2"}).launcher, "Slurm");
}

TEST(Launcher, TheFirstOfSeveralCounts) {
  const std::pair<Environment, std::string> inOrder[] = {
      {gc3Run, "gc3"}, {torchrun, "torchrun"}, {openMpi, "Open MPI"}, {mpich, "MPICH"}, {slurm, "Slurm"}};
  Environment later;
  for (size_t i = std::size(inOrder); i-- > 0;) {
    later = inOrder[i].first + later;
    EXPECT_EQ(launchOf(later).launcher, inOrder[i].second);
  }
}

TEST(Launcher, TheRootCanBeGiven) {
  const auto rootOf = [](const Environment &changes) {
    const Launch launch = launchOf(with(slurm, changes));
    return launch.rootHost + " " + std::to_string(launch.firstPort);
  };
  const std::string jobPort = std::to_string(launchOf(slurm).firstPort);
  EXPECT_EQ(rootOf({"MASTER_ADDR=a"}), "a " + jobPort);
  EXPECT_EQ(rootOf({"MASTER_ADDR=a", "MASTER_PORT=5000"}), "a 5001");
  EXPECT_EQ(rootOf({"MASTER_PORT=65535"}), "gpu01 65519");
  EXPECT_EQ(rootOf({"MASTER_PORT=65519"}), "gpu01 65520");
  EXPECT_EQ(rootOf({"MASTER_PORT=65520"}), "gpu01 65504");
  EXPECT_EQ(rootOf({"MASTER_ADDR=a", "GC3_ROOT=b"}), "b " + jobPort);
  EXPECT_EQ(rootOf({"MASTER_PORT=5000", "GC3_ROOT=b"}), "b 5001");
  EXPECT_EQ(rootOf({"MASTER_PORT=5000", "GC3_ROOT=b:4000"}), "b 4000");
  EXPECT_EQ(rootOf({"GC3_ROOT=fe80::1"}), "fe80::1 " + jobPort);
  EXPECT_EQ(rootOf({"GC3_ROOT=[::1]"}), "::1 " + jobPort);
  EXPECT_EQ(rootOf({"GC3_ROOT=[::1]:4000"}), "::1 4000");
  EXPECT_EQ(rootOf({"GC3_ROOT=b:65520"}), "b 65520");
}

TEST(Launcher, MalformedRootsAreErrors) {
  for (const char *root : {"host:", ":4000", "host:x", "host:0", "host:65521", "host:70000", "[::1", "[::1]x", "[]:1",
                           "host:-1", "host:+1", "[::1]:"})
    EXPECT_EQ(errorOf(with(openMpi, {std::string("GC3_ROOT=") + root})),
              std::string("GC3_ROOT is '") + root + "'; it can be HOST or HOST:PORT, with a port from 1 to 65520");
}

TEST(Launcher, TheHostOfRank0MustBeKnown) {
  const Environment changes = {"OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2"};
  EXPECT_EQ(errorOf(with(openMpi, changes)),
            "Open MPI does not say which host has rank 0; set GC3_ROOT or MASTER_ADDR to its name");
  EXPECT_EQ(launchOf(with(openMpi, changes + Environment{"GC3_ROOT=a"})).rootHost, "a");
  EXPECT_EQ(errorOf(with(slurm, {"SLURM_DISTRIBUTION=arbitrary"})),
            "Slurm does not say which host has rank 0; set GC3_ROOT or MASTER_ADDR to its name");
  EXPECT_EQ(errorOf(with(mpich, {"GC3_ROOT"})),
            "MPICH gives the job no name; set GC3_ROOT to HOST:PORT, the host of rank 0 and a free port");
}

TEST(Launcher, ListsOfHosts) {
  const std::pair<std::string, std::string> lists[] = {
      {"a", "a"}, {"a,b", "a"}, {"n[08-10]", "n08"}, {"n[3,5-7],z", "n3"}, {"r[1-2]n[3-4]x,y", "r1n3x"}};
  for (const auto &[list, host] : lists)
    EXPECT_EQ(launchOf(with(slurm, {"SLURM_STEP_NODELIST=" + list})).rootHost, host);
  for (const char *list : {"", "n[08-10", ",a"})
    EXPECT_EQ(errorOf(with(slurm, {std::string("SLURM_STEP_NODELIST=") + list})),
              "SLURM_STEP_NODELIST is '" + std::string(list) + "'; it can be a list of hosts such as gpu[01-03,7]");
}

TEST(Launcher, ListsOfCounts) {
  const auto countOf = [](const std::string &list, int host) {
    return launchOf(with(slurm, {"SLURM_STEP_TASKS_PER_NODE=" + list, "SLURM_NODEID=" + std::to_string(host)}))
        .localRanks;
  };
  EXPECT_EQ(countOf("5", 0), 5U);
  EXPECT_EQ(countOf("1,4", 1), 4U);
  EXPECT_EQ(countOf("2(x2),1", 1), 2U);
  EXPECT_EQ(countOf("2(x2),1", 2), 1U);
  for (const char *list : {"", "x", "2(x", "2(x2", "2(xa)", "2(x1)", "-1,2", "1,0", "1,6"})
    EXPECT_EQ(errorOf(with(slurm, {std::string("SLURM_STEP_TASKS_PER_NODE=") + list})),
              "SLURM_STEP_TASKS_PER_NODE is '" + std::string(list) +
                  "'; it can be a list such as 2(x3),1 with a number for each host, and SLURM_NODEID is 1");
}

TEST(Launcher, NumbersAreChecked) {
  const std::string range = "'; it can be a number from ";
  EXPECT_EQ(errorOf(with(torchrun, {"RANK=8"})), "RANK is '8" + range + "0 to 7");
  EXPECT_EQ(errorOf(with(torchrun, {"RANK=-1"})), "RANK is '-1" + range + "0 to 7");
  EXPECT_EQ(errorOf(with(torchrun, {"RANK=1x"})), "RANK is '1x" + range + "0 to 7");
  EXPECT_EQ(errorOf(with(torchrun, {"WORLD_SIZE=0"})), "WORLD_SIZE is '0" + range + "1 to 1048576");
  EXPECT_EQ(errorOf(with(torchrun, {"WORLD_SIZE=99999999999"})), "WORLD_SIZE is '99999999999" + range + "1 to 1048576");
  EXPECT_EQ(errorOf(with(torchrun, {"LOCAL_RANK=2"})), "LOCAL_RANK is '2" + range + "0 to 1");
  EXPECT_EQ(errorOf(with(torchrun, {"LOCAL_WORLD_SIZE=9"})), "LOCAL_WORLD_SIZE is '9" + range + "1 to 8");
  EXPECT_EQ(errorOf(with(torchrun, {"MASTER_PORT=0"})), "MASTER_PORT is '0" + range + "1 to 65535");
  EXPECT_EQ(errorOf(with(torchrun, {"LOCAL_RANK"})), "torchrun has started this process, but LOCAL_RANK is not set");
  EXPECT_EQ(errorOf(with(openMpi, {"OMPI_COMM_WORLD_SIZE="})),
            "Open MPI has started this process, but OMPI_COMM_WORLD_SIZE is not set");
}

TEST(Launcher, JobsHaveDifferentKeys) {
  EXPECT_NE(launchOf(openMpi).key, launchOf(with(openMpi, {"PMIX_NAMESPACE=1"})).key);
  EXPECT_NE(launchOf(torchrun).key, launchOf(with(torchrun, {"TORCHELASTIC_RESTART_COUNT=1"})).key);
  EXPECT_NE(launchOf(slurm).firstPort, launchOf(with(slurm, {"SLURM_STEP_ID=2"})).firstPort);
}

// Ranks that a launcher has started join.

/// The launches of all ranks of a job on this host.
std::vector<Launch> launchesOf(uint32_t ranks, const std::string &key, uint16_t firstPort) {
  std::vector<Launch> launches;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    launches.push_back({"gc3", rank, ranks, rank, ranks, "localhost", firstPort, key});
  return launches;
}

std::vector<std::future<Joined>> beginToJoin(const std::vector<Launch> &launches,
                                             const WaitLimits &limits = longLimits) {
  std::vector<std::future<Joined>> joining;
  for (const Launch &launch : launches)
    joining.push_back(std::async(std::launch::async, [=] { return Assembly::join(launch, memberOf(0, 1), limits); }));
  return joining;
}

TEST(Launch, JobsWithTheSamePortsDoNotMix) {
  const auto port = static_cast<uint16_t>(openListener()->endpoint().port - 1);
  std::vector<std::future<Joined>> some = beginToJoin(launchesOf(4, "some", port)),
                                   others = beginToJoin(launchesOf(3, "others", port));
  for (auto *each : {&some, &others})
    for (uint32_t rank = 0; rank < each->size(); ++rank) {
      const std::unique_ptr<Assembly> assembly = take(std::move((*each)[rank]));
      EXPECT_EQ(assembly->rank(), rank);
      EXPECT_EQ(assembly->ranks(), each->size());
    }
}

/// Rank 0 has one of the ports, and the system refuses the others.
TEST(Launch, OnlyThePortThatAnswersIsNamed) {
  std::vector<Launch> launches = launchesOf(2, "key", static_cast<uint16_t>(openListener()->endpoint().port));
  for (Launch &launch : launches)
    launch.rootHost = "127.0.0.1";
  core::Result<std::unique_ptr<Listener>> listener = Listener::open(launches[0]);
  ASSERT_TRUE(listener.ok());
  const std::string port = std::to_string((*listener)->endpoint().port);
  std::future<Joined> leading =
      beginToLead(std::move(*listener), memberOf(0, 2, "a secret"), {5 * shortLimits.timeout, {}});
  const core::Outcome outcome = Assembly::join(launches[1], memberOf(1, 2, "b secret"), shortLimits).outcome();
  EXPECT_EQ(outcome.text,
            "rank 1 did not reach rank 0 within 250 ms: 127.0.0.1:" + port + " (rank 0 has another GC3_SECRET)");
  (void)leading.get();
}

TEST(Launch, RefusedPortsAreARange) {
  Launch launch = launchesOf(2, "key", 1)[1];
  launch.rootHost = "127.0.0.1";
  EXPECT_EQ(Assembly::join(launch, memberOf(0, 1), shortLimits).outcome().text,
            "rank 1 did not reach rank 0 within 250 ms: 127.0.0.1:1-16 (Connection refused)");
}

TEST(Launch, AnUnknownHostIsNamed) {
  Launch launch = launchesOf(2, "key", 4000)[1];
  launch.rootHost = "host.invalid";
  const core::Outcome outcome = Assembly::join(launch, memberOf(0, 1), shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3Timeout);
  EXPECT_TRUE(outcome.text.starts_with("rank 1 can't find the host of rank 0, 'host.invalid': ")) << outcome.text;
}

TEST(Launch, Rank0NeedsAFreePort) {
  const Launch launch = launchesOf(2, "key", static_cast<uint16_t>(openListener()->endpoint().port))[0];
  std::vector<std::unique_ptr<Listener>> taken;
  for (uint32_t i = 0; i < Launch::portCount; ++i)
    if (core::Result<std::unique_ptr<Listener>> opened = Listener::open(launch); opened.ok())
      taken.push_back(std::move(*opened));
  const core::Outcome outcome = Assembly::join(launch, memberOf(0, 1), shortLimits).outcome();
  EXPECT_EQ(outcome.code, gc3SystemError);
  EXPECT_EQ(outcome.text, "rank 0 can't open a port from " + std::to_string(launch.firstPort) + " to " +
                              std::to_string(launch.firstPort + Launch::portCount - 1) + ": Address already in use");
}

} // namespace
