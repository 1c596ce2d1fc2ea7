// SPDX-License-Identifier: Apache-2.0
// The thread blocks of one rank of an MSCCL file, as GC3-IR. The file counts steps that GC3-IR does not have, and says
// apart from waits after which steps a thread block tells how far it is.
#pragma once

#include "Attributes.h"
#include "gc3/Import/MscclXml.h"

namespace gc3::imports {

/// Appends to the algorithm's program. Linear.
class MscclRank {
public:
  MscclRank(MscclAlgorithm &algorithm, Diagnostics &diags)
      : algorithm(algorithm), program(algorithm.program), diags(diags),
        firstWait(static_cast<uint32_t>(program.waits.size())) {}

  void beginThreadBlock(const ir::ThreadBlock &block);
  void step(const Attributes &tag);
  void endThreadBlock();
  /// Once all thread blocks are there: what the waits wait for.
  void end();

  /// Of the current thread block, as the file counts.
  uint32_t stepCount() const { return static_cast<uint32_t>(published.size()) - blockBegin.back(); }

private:
  /// Consecutive reductions that the interpreters run as one.
  struct Run {
    uint32_t length = 0; ///< 0: the step before is not one of them, or ended the run
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
  uint32_t firstWait;                  ///< of the rank
  std::vector<SourceRange> waitPlaces; ///< by wait of the rank
  std::vector<uint32_t> blockBegin;    ///< in `published`, by thread block
  std::vector<uint32_t> published;     ///< by step of the file: the GC3-IR step that tells that it is done, or None
  uint32_t firstPending = 0;           ///< waits from here on belong to the next step that is executed
  Run run;
};

} // namespace gc3::imports
