# SPDX-License-Identifier: Apache-2.0
"""Cases for hostile.py: small GC3-IR texts whose verification could take much memory or time."""

HEAD = "gc3-ir p implements c ranks {}\nbuffers input[{}] output[1] s t u\nensures output(0, 0) == input(0, 0)\n"


def block(number, head, steps):
    return f"  tb {number} channel {number}{head}\n" + "".join(f"    {i}: {step}\n" for i, step in enumerate(steps))


def unset_reads():
    """Steps that read slots that no step has written, a million slots at a time."""
    copies = [f"copy s[0..{2**20}] -> s[{2**20}..{2**21}]"] * 70
    return HEAD.format(1, 1) + f"rank 0: input 1 output 1 s {2**21}\n" + block(0, "", copies)


def readers():
    """Two thread blocks that take turns to read a million slots."""
    filled = ["copy input[0] -> output[0]", "copy input[0] -> s[0]"]
    filled += [f"copy s[0..{2**i}] -> s[{2**i}..{2 ** (i + 1)}]" for i in range(20)]
    slots = f"s[0..{2**20}]"
    first = [f"copy {slots} -> t[0..{2**20}]" + (f" after 1.{i - 1}" if i else "") for i in range(80)]
    second = [f"copy {slots} -> u[0..{2**20}] after 0.{len(filled) + i}" for i in range(80)]
    sizes = f"s {2**20} t {2**20} u {2**20}"
    return HEAD.format(1, 1) + f"rank 0: input 1 output 1 {sizes}\n" + block(0, "", filled + first) + block(1, "", second)


def copies(number):
    """Steps that copy the same two million slots `number` times."""
    filled = ["copy input[0] -> output[0]", "copy input[0] -> s[0]"]
    filled += [f"copy s[0..{2**i}] -> s[{2**i}..{2 ** (i + 1)}]" for i in range(22)]
    again = [f"copy s[0..{2**21}] -> s[{2**21}..{2**22}]"] * number
    return HEAD.format(1, 1) + f"rank 0: input 1 output 1 s {2**22}\n" + block(0, "", filled + again)


def coming_back():
    """A message that returns thousands of times to a rank with thousands of steps whose order Verify must find."""
    n = 80_000
    copies = [f"copy input[{i}] -> s[{i}]" for i in range(n)]
    passing = ["send input[0]"] + [f"rcs -> s[{n}]"] * n + ["recv -> output[0]"]
    text = HEAD.format(3, n) + f"rank 0: input {n} output 1 s {n + 1}\n" + block(0, " recv 1 send 1", passing + copies)
    text += block(1, " send 2", copies + ["send input[0]"])
    around = ["rcs -> s[0] after 1.0"] + ["rcs -> s[0]"] * n
    text += f"rank 1: input {n} s 2\n" + block(0, " recv 0 send 0", around) + block(1, " recv 2", ["recv -> s[1]"])
    return text + f"rank 2: input {n} s 1\n" + "  tb 0 channel 1 recv 0 send 1\n    0: rcs -> s[0]\n"


def cases():
    yield "reads of what is not set", unset_reads(), "--from=gc3-ir"
    yield "readers in turn", readers(), "--from=gc3-ir"
    yield "copies within the limit", copies(100), "--from=gc3-ir"
    yield "copies past the limit", copies(511), "--from=gc3-ir"
    yield "message that comes back", coming_back(), "--from=gc3-ir"
