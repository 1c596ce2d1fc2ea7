# SPDX-License-Identifier: Apache-2.0
"""Prints a program with thread blocks that read 40 slots each, in no determined order."""
READERS = 8

names = [f"own{i}" for i in range(READERS)]
print("gc3-ir readers implements readers ranks 1\nbuffers input[1] output[1] s", *names)
print("ensures output(0, 0) == input(0, 0)\nrank 0: input 1 output 1 s 40", *[f"{name} 5" for name in names])
print("  tb 0 channel 0")
for step in range(40):
    print(f"    {step}: copy input[0] -> s[{step}]")
print("    40: copy input[0] -> output[0]")
for block, name in enumerate(names, 1):
    print(f"  tb {block} channel 0")
    for step in range(8):
        print(f"    {step}: copy s[{5 * step}..{5 * step + 5}] -> {name}[0..5]" + " after 0.39" * (step == 0))
