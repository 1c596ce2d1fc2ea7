// SPDX-License-Identifier: Apache-2.0
#include "LocalProcesses.h"

#include "job/ProcessState.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gc3::run {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds grace(5); ///< how long processes may run after another has failed

/// Returns pointers to the texts, and a null pointer after them.
std::vector<char *> pointersTo(std::vector<std::string> &texts) {
  std::vector<char *> pointers;
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the variables of a rank: those of this process, except those that describe the job.
std::vector<std::string> environmentOf(uint32_t rank, uint32_t ranks, const std::string &job) {
  std::vector<std::string> entries = {"GC3_RANK=" + std::to_string(rank),
                                      "GC3_RANKS=" + std::to_string(ranks),
                                      "GC3_LOCAL_RANK=" + std::to_string(rank),
                                      "GC3_LOCAL_RANKS=" + std::to_string(ranks),
                                      "GC3_JOB=" + job,
                                      "GC3_ROOT=127.0.0.1"};
  const size_t own = entries.size();
  for (char **entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto isReplaced = [&](const std::string &other) {
      return text.starts_with(std::string_view(other).substr(0, other.find('=') + 1));
    };
    if (std::none_of(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(own), isReplaced))
      entries.emplace_back(text);
  }
  return entries;
}

/// Receives signals as values of wait(), instead of by handlers, until its destruction.
class Signals {
public:
  Signals() {
    std::signal(SIGCHLD, SIG_DFL); // if the parent ignores it, ends of children are not reported
    for (int signal : {SIGCHLD, SIGINT, SIGTERM})
      sigaddset(&received, signal);
    sigprocmask(SIG_BLOCK, &received, &before);
  }
  ~Signals() { sigprocmask(SIG_SETMASK, &before, nullptr); }
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

  /// Returns the next signal; 0 at the deadline.
  int wait(std::optional<Clock::time_point> deadline) const {
    for (;;) {
      timespec left{};
      if (deadline) {
        const auto time = std::max(*deadline - Clock::now(), Clock::duration::zero());
        left.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(time).count();
        left.tv_nsec = std::chrono::nanoseconds(time % std::chrono::seconds(1)).count();
      }
      const int signal = sigtimedwait(&received, nullptr, deadline ? &left : nullptr);
      if (signal > 0 || errno != EINTR)
        return std::max(signal, 0);
    }
  }
  const sigset_t &maskBefore() const { return before; }

private:
  sigset_t received{}, before{};
};

class LocalProcesses {
public:
  /// Starts one more process. Returns false if the system refuses it.
  bool start(std::vector<std::string> arguments, std::vector<std::string> environment);
  /// Waits until all processes have ended. Returns the largest status.
  int wait();
  void end(int signal);

private:
  struct Process {
    pid_t id;
    bool isRunning = true;
  };
  enum class State : uint8_t {
    Running,
    Ending,    ///< one has failed, so the others end by themselves
    Signalled, ///< all have received a signal, so that they end
  };

  void collect();
  void noteEnd(size_t rank, int status);
  void beginEnding(State next);
  void reportRest() const;
  bool isAnyRunning() const {
    return std::any_of(processes.begin(), processes.end(), [](const Process &each) { return each.isRunning; });
  }

  const Signals signals;
  std::vector<Process> processes; ///< by rank
  State state = State::Running;
  std::optional<Clock::time_point> deadline; ///< when to kill the processes
  int largest = 0;
};

bool LocalProcesses::start(std::vector<std::string> arguments, std::vector<std::string> environment) {
  const std::vector<char *> argv = pointersTo(arguments), variables = pointersTo(environment);
  const pid_t parent = getpid(), child = fork();
  if (child > 0)
    processes.push_back({child});
  if (child != 0)
    return child > 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it has ended before the previous line
    _exit(EXIT_FAILURE);
  sigprocmask(SIG_SETMASK, &signals.maskBefore(), nullptr);
  execve("/proc/self/exe", argv.data(), variables.data());
  std::fprintf(stderr, "gc3-run: can't start a process: %s\n", std::strerror(errno));
  _exit(EXIT_FAILURE);
}

void LocalProcesses::end(int signal) {
  for (const Process &each : processes)
    if (each.isRunning)
      kill(each.id, signal);
  beginEnding(State::Signalled);
}

void LocalProcesses::beginEnding(State next) {
  state = next;
  deadline = Clock::now() + grace;
}

void LocalProcesses::noteEnd(size_t rank, int status) {
  const bool wasKilled = WIFSIGNALED(status);
  const int result = wasKilled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  largest = std::max(largest, result);
  if (result == 0 || state == State::Signalled)
    return;
  if (wasKilled)
    std::fprintf(stderr, "gc3-run: rank %zu (process %d) was killed by signal %d\n", rank,
                 static_cast<int>(processes[rank].id), WTERMSIG(status));
  if (state == State::Running)
    beginEnding(State::Ending);
}

void LocalProcesses::collect() {
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    Process &process = processes[rank];
    int status = 0;
    if (!process.isRunning || waitpid(process.id, &status, WNOHANG) != process.id)
      continue;
    process.isRunning = false;
    noteEnd(rank, status);
  }
}

/// Names the processes that have not ended in time.
void LocalProcesses::reportRest() const {
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    const Process &process = processes[rank];
    const bool isStopped = job::stateOfProcess(static_cast<uint32_t>(process.id)) == job::ProcessState::Stopped;
    if (process.isRunning)
      std::fprintf(stderr, "gc3-run: rank %zu (process %d%s) has not ended within %d s; it is killed\n", rank,
                   static_cast<int>(process.id), isStopped ? ", stopped" : "", static_cast<int>(grace.count()));
  }
}

int LocalProcesses::wait() {
  while (isAnyRunning()) {
    const int signal = signals.wait(deadline);
    if (signal == 0) {
      reportRest();
      end(SIGKILL);
    } else if (signal != SIGCHLD) {
      end(signal);
    }
    collect();
  }
  return largest;
}

} // namespace

int runLocalProcesses(uint32_t count, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "gc3-run");
  // Differs from the names of all other jobs of this host.
  const std::string job = std::to_string(getpid()) + "-" + std::to_string(Clock::now().time_since_epoch().count());
  LocalProcesses processes;
  for (uint32_t rank = 0; rank < count; ++rank)
    if (!processes.start(arguments, environmentOf(rank, count, job))) {
      std::fprintf(stderr, "gc3-run: can't start %u processes: %s\n", count, std::strerror(errno));
      processes.end(SIGKILL);
      processes.wait();
      return EXIT_FAILURE;
    }
  return processes.wait();
}

} // namespace gc3::run
