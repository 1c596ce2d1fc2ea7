# SPDX-License-Identifier: Apache-2.0
"""way.py RANKS STEPS: prints a program in which only a message around all ranks orders the writes before the reads."""
import sys

ranks, steps = int(sys.argv[1]), int(sys.argv[2])
lines = [f"gc3-ir way implements way ranks {ranks}", "buffers input[1] output[1] s", "ensures output(0, 0) == input(0, 0)"]
lines += [f"rank 0: input 1 output 1 s {steps}", "  tb 0 channel 0"]
lines += [f"    {i}: copy input[0] -> s[{i}]" for i in range(steps)]
lines += ["  tb 1 channel 0 send 1", f"    0: send input[0] after 0.{steps - 1}"]
lines += [f"  tb 2 channel 0 recv {ranks - 1}", "    0: recv -> output[0]"]
lines += [f"    {i + 1}: copy s[{i}] -> output[0]" for i in range(steps)]
for rank in range(1, ranks):
    lines += [f"rank {rank}: input 1 output 1 s 1", f"  tb 0 channel 0 recv {rank - 1}", "    0: recv -> s[0]"]
    lines += [f"  tb 1 channel 0 send {(rank + 1) % ranks}", "    0: send s[0] after 0.0"]
print("\n".join(lines))
