// SPDX-License-Identifier: Apache-2.0
// The file in which a communicator stores the times of its calls: a table in the folder GC3_TUNER_TIMES, whose name is
// the communicator's identifier. Only rank 0 writes it.
#pragma once

#include "tuner/Recorder.h"

#include <string>

namespace gc3::tuner {

/// A communicator's size, and this rank's number in it.
struct Shape {
  uint32_t ranks = 0, nodes = 0, rank = 0;
};

class TimesFile {
public:
  /// Reads the tuner's table, of which the times depend on the arms. Logs with `logger`, which can be null.
  TimesFile(std::string folder, const std::string &table, uint64_t communicator, const Shape &shape,
            abi::Logger logger);

  /// Returns false if there is no folder, or it can't be written.
  bool isOpen() const { return isWritable; }
  Recorder &recorder() { return measured; }
  /// Writes the file if this is rank 0 and a call was measured. The file is complete, or does not change.
  void write() const;

private:
  const std::string folder;
  const std::string path;
  const bool isFirst; ///< rank 0
  const abi::Logger logger;
  bool isWritable = false;
  Recorder measured;
};

} // namespace gc3::tuner
