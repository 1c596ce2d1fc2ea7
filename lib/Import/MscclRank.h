// SPDX-License-Identifier: Apache-2.0
// Converts the thread blocks of one rank of an MSCCL file to GC3-IR. The file counts steps that GC3-IR does not have.
// Separately from waits, it marks the steps after which a thread block publishes its progress.
#pragma once

#include "Attributes.h"
#include "gc3/Import/MscclXml.h"

namespace gc3::imports {

/// Appends one rank to the algorithm's program. Linear.
class MscclRank {
public:
  MscclRank(MscclAlgorithm &algorithm, Diagnostics &diags)
      : algorithm(algorithm), program(algorithm.program), diags(diags),
        firstWait(static_cast<uint32_t>(program.waits.size())) {}

  void beginThreadBlock(const ir::ThreadBlock &block);
  void step(const Attributes &tag);
  void endThreadBlock();
  /// Resolves the waits of the rank. Call after the last thread block.
  void end();

  /// Returns the number of steps of the current thread block, as the file counts them.
  uint32_t stepCount() const { return static_cast<uint32_t>(published.size()) - blockBegin.back(); }

private:
  /// Consecutive reductions that the interpreters run as one.
  struct Run {
    uint32_t length = 0; ///< 0: the previous step is not one of them, or ended the run
    ir::Step first{};
  };

  bool addWait(const Attributes &tag);
  void addStep(const Attributes &tag, ir::Opcode opcode, bool waits, bool publishes);
  void slot(const Attributes &tag, const char *bufferKey, const char *indexKey, bool used, ir::BufferId &buffer,
            uint32_t &index);
  void follow(const Attributes &tag, const ir::Step &step, bool publishes);
  void resolve(ir::Wait &wait, SourceRange place);

  MscclAlgorithm &algorithm;
  ir::Program &program;
  Diagnostics &diags;
  uint32_t firstWait;                  ///< first wait of the rank
  std::vector<SourceRange> waitPlaces; ///< by wait of the rank
  std::vector<uint32_t> blockBegin;    ///< first entry in `published`, by thread block
  std::vector<uint32_t> published;     ///< by step of the file: the GC3-IR step that publishes its completion, or None
  uint32_t firstPending = 0;           ///< waits from here on belong to the next executed step
  Run run;
};

} // namespace gc3::imports
