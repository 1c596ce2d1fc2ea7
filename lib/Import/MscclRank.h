// SPDX-License-Identifier: Apache-2.0
// Converts the thread blocks of one rank of an MSCCL file to GC3-IR. Unlike GC3-IR, the file also numbers `nop` steps,
// and it marks the steps after which a thread block publishes its progress.
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
    uint32_t length = 0; ///< number of reductions in the run; 0: the next step cannot join a run
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
  std::vector<SourceRange> waitPlaces; ///< places of the rank's waits, in their order
  std::vector<uint32_t> blockBegin;    ///< index of a thread block's first entry in `published`
  std::vector<uint32_t> published;     ///< by step of the file: the GC3-IR step that publishes its completion, or None
  uint32_t firstPending = 0;           ///< waits from here on belong to the next executed step
  Run run;
};

} // namespace gc3::imports
