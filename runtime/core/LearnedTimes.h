// SPDX-License-Identifier: Apache-2.0
// The file of GC3_TUNE_FILE: loads what earlier jobs have learned, and adds what this one has learned (docs/online.md).
// Only log lines tell about a file that can't be used; the job runs without it.
#pragma once

#include "core/TuneOptions.h"
#include "select/TuneFile.h"

#include <functional>

namespace gc3::core {

/// Returns the name of this machine for the times of host communicators: its processors, and the number of threads that
/// this process may use.
std::string hostMachine();

/// Returns what the file `name` holds for a machine and a bundle. "%b" in the name stands for the bundle's digest.
/// Returns no rows if `name` is empty, if there is no file, or if the file is damaged, or for another machine or
/// bundle. In the last two cases, logs why once.
select::TuneFile loadLearned(const std::string &name, const std::string &machine, uint64_t bundle);

/// Adds what was learned to the file at `path`; null: the file of the options. Does nothing if nothing
/// was learned. gc3InvalidUsage: there is no path.
/// gc3SystemError: the file can't be replaced; see select::addToTuneFile.
Outcome saveLearned(const TuneOptions &options, const char *path, const select::TuneFile &learned);
/// Saves the result of `learn` at the end of a communicator, if the options say so. Only logs an error, also if memory
/// runs out: the communicator must end.
void saveLearnedAtEnd(const TuneOptions &options, const std::function<select::TuneFile()> &learn) noexcept;

} // namespace gc3::core
