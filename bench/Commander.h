// SPDX-License-Identifier: Apache-2.0
// Process 0 commands what all processes measure or check.
#pragma once

#include "MpiRank.h"

#include <semaphore.h>

namespace bench {

/// Something that all processes do.
enum class Command { TimeGc3, TimeMpi, CheckGc3, CheckMpi, Quit };

/// Lets process 0 command the others, which sleep otherwise.
class Commander {
public:
  /// All processes call this, also the destructor.
  explicit Commander(MpiRank &rank) : own(rank) {
    void *memory = nullptr;
    const MPI_Aint bytes = rank.number() == 0 ? static_cast<MPI_Aint>(sizeof(Shared)) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Aint size;
    int unit;
    MPI_Win_shared_query(window, 0, &size, &unit, &memory);
    shared = static_cast<Shared *>(memory);
    if (rank.number() == 0)
      for (sem_t &wake : shared->wake)
        if (sem_init(&wake, 1, 0) != 0)
          fail("sem_init");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Commander() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
  }
  Commander(const Commander &) = delete;
  Commander &operator=(const Commander &) = delete;

  /// Runs a command in all processes; process 0 calls this. Returns the seconds per call.
  double onAll(Command command, const Point &point = {}, int calls = 0) {
    shared->command = command;
    shared->point = point;
    shared->calls = calls;
    for (int other = 1; other < own.count(); ++other)
      sem_post(&shared->wake[other]);
    return run(command, point, calls);
  }
  /// Runs the commands of process 0 until it quits; the other processes call this.
  void serve() {
    for (;;) {
      while (sem_wait(&shared->wake[own.number()]) != 0)
        ;
      if (shared->command == Command::Quit)
        return;
      run(shared->command, shared->point, shared->calls);
    }
  }

  static constexpr int mostProcesses = 64;

private:
  struct Shared {
    sem_t wake[mostProcesses]; ///< processes except 0 wait for theirs
    Point point;
    int calls;
    Command command;
  };

  double run(Command command, const Point &point, int calls) {
    switch (command) {
    case Command::TimeGc3: return own.timeGc3(point, calls);
    case Command::TimeMpi: return own.timeMpi(point, calls);
    case Command::CheckGc3: own.checkGc3Calls(point); break;
    case Command::CheckMpi: own.checkMpiCalls(point); break;
    case Command::Quit: break;
    }
    return 0;
  }

  MpiRank &own;
  MPI_Win window = MPI_WIN_NULL;
  Shared *shared = nullptr;
};

} // namespace bench
