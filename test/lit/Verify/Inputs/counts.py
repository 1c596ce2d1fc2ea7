# SPDX-License-Identifier: Apache-2.0
"""Prints a program that promises 2^32 - 1 times its input and computes 2^64 + 2^32 - 1 times, by doubling it."""
steps = ["copy input[0] -> output[0]"]
for bit in f"{2**64 + 2**32 - 1:b}"[1:]:
    steps.append("reduce output[0] -> output[0]")
    if bit == "1":
        steps.append("reduce input[0] -> output[0]")
print("gc3-ir counts implements counts ranks 1\nbuffers input[1] output[1]")
print("ensures output(0, 0) == reduce(input(0, 0) for q in 0..4294967295)\nrank 0: input 1 output 1\n  tb 0 channel 0")
for number, step in enumerate(steps):
    print(f"    {number}: {step}")
