// SPDX-License-Identifier: Apache-2.0
// Changed bytes of each format are refused, or are in their ranges (test/fuzz/CheckJob.h).
#include "CheckJob.h"

#include "job/Identity.h"
#include "job/Message.h"
#include "job/UniqueId.h"

#include <gtest/gtest.h>

#include <random>

using namespace gc3;
using namespace gc3::job;

namespace {

std::vector<uint8_t> sampleOf(uint8_t format, net::Bytes bytes) {
  std::vector<uint8_t> sample = {format};
  sample.insert(sample.end(), bytes.begin(), bytes.end());
  return sample;
}

std::vector<uint8_t> environmentOf(std::string entries) {
  std::replace(entries.begin(), entries.end(), ' ', '\0');
  return bytesOf(entries);
}

std::vector<std::vector<uint8_t>> makeSamples() {
  net::Endpoint rank0;
  rank0.port = 4711;
  return {sampleOf(0, writeUniqueId(rank0)),
          sampleOf(1, writeIdentity({1, 2, "a"})),
          sampleOf(2, writeMessage({Message::Kind::Failed, 1, 0, {7}})),
          sampleOf(3, writeGathered({{1}, {}, {2, 3}})),
          sampleOf(4, environmentOf("RANK=1 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=5 "
                                    "GC3_ROOT=[::1]:20")),
          sampleOf(4, environmentOf("SLURM_PROCID=2 SLURM_NTASKS=5 SLURM_LOCALID=0 SLURM_JOB_ID=7 SLURM_STEP_ID=1 "
                                    "SLURM_STEP_NODELIST=gpu[01-02,7] SLURM_NODEID=1 "
                                    "SLURM_STEP_TASKS_PER_NODE=2(x2),1"))};
}

TEST(Job, ChangedBytesAreRefusedOrInRange) {
  std::mt19937 random(7);
  for (const std::vector<uint8_t> &sample : makeSamples()) {
    uint32_t accepted = 0;
    EXPECT_EQ(test::checkJob(sample, accepted), "");
    EXPECT_EQ(accepted, 1U) << int{sample[0]};
    for (int i = 0; i < 5000; ++i) {
      std::vector<uint8_t> changed = sample;
      for (auto changes = 1 + random() % 3; changes > 0; --changes)
        changed[1 + random() % (changed.size() - 1)] = static_cast<uint8_t>(random());
      if (random() % 4 == 0)
        changed.resize(1 + random() % changed.size());
      ASSERT_EQ(test::checkJob(changed, accepted), "");
    }
  }
}

} // namespace
