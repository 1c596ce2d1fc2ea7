# SPDX-License-Identifier: Apache-2.0
"""Cases for hostile.py: texts for --from in which a number is replaced, garbage, and promises of enormous size."""
import re

DEEP = {"reductions of many terms"}
NUMBERS = [("2^31", 2**31), ("2^32 - 1", 2**32 - 1), ("2^32", 2**32), ("2^63", 2**63), ("2^64", 2**64)]

GC3_IR = """\
gc3-ir p implements c ranks 2 protocol Simple sizes 0..1024 subdivision 2 slots 8
buffers input[2] output[1][2] tmp
ensures for r in 0..2, c in 0..2: output(r, c) == reduce(input(q, c) for q in 0..2)
rank 0: input 4 output 4 tmp 4
  tb 0 channel 0 recv 1 send 1
    0: send input[0..4]
    1: recv -> output[0..4]
rank 1: input 4 output 4 tmp 4
  tb 0 channel 0 recv 0 send 0
    0: rrcs input[0..4] -> output[0..4]
  tb 1 channel 1
    0: copy output[0..4] -> tmp[0..4] after 0.0
"""

INST_DAG = """\
instruction-dag p implements c ranks 2 protocol Simple subdivision 2
buffers input[2] output[2] tmp
ensures for r in 0..2, c in 0..2: output(r, c) == reduce(input(q, c) for q in 0..2)
rank 0: input 4 output 4 tmp 4
rank 1: input 4 output 4 tmp 4
  %0 = rank 0 send input[0..4] to %1 chain 0 channel 0
  %1 = rank 1 rrcs input[0..4] -> output[0..4] from %0 to %2 chain 0 channel 0
  %2 = rank 0 recv -> output[0..4] from %1 chain 0 channel 0
  %3 = rank 1 copy output[0..4] -> tmp[0..4] after %1
"""

HEAD = "gc3-ir p implements c ranks {} slots 8\nbuffers input[{}] output[{}]\n"


def numbers(level, text):
    yield f"{level} as it is", text, f"--from={level}"
    for number, match in enumerate(re.finditer(r"\d+", text)):
        before = text[: match.start()].split("\n")[-1][-14:]
        for name, value in NUMBERS:
            changed = text[: match.start()] + str(value) + text[match.end() :]
            yield f"{level} {number} '{before}' {name}", changed, f"--from={level}"


def head(ranks, chunks, promise):
    text = HEAD.format(ranks, chunks, chunks) + "ensures " + promise + "\n"
    return text + "".join(f"rank {rank}: input {chunks} output {chunks}\n" for rank in range(ranks))


def promises():
    many = "0..4294967295"
    for what, text in [
        ("counters", "for " + ", ".join(f"x{i} in {many}" for i in range(8)) + ": output(0, 0) == input(0, 0)"),
        ("reduction", f"output(0, 0) == reduce(input(0, 0) for q in {many})"),
        ("terms", "output(0, 0) == reduce(" + ", ".join(["input(0, 0)"] * 300_000) + ")"),
        ("counters without use", f"for r in 0..2, x in {many}: output(r, 0) == input(r, 0)"),
        ("factors", "output(9223372036854775807*0, 0) == input(0, 0)"),
    ]:
        yield f"promise of {what}", head(2, 2, text), "--from=gc3-ir"
    yield "ranks", HEAD.format(4294967295, 1, 1), "--from=gc3-ir"
    yield "slots", HEAD.format(65536, 65536, 65536), "--from=gc3-ir"
    terms = ", ".join(["input(0, c)", "input(1, c)"] * 40)
    yield "reductions of many terms", head(256, 65536, f"for r in 0..256, c in 0..65536: output(r, c) == reduce({terms})"), "--from=gc3-ir"
    terms = ", ".join(["input(r, c)", "input(1, c)"] * 4)
    yield "many reductions", head(256, 65536, f"for r in 0..256, c in 0..65536: output(r, c) == reduce({terms})"), "--from=gc3-ir"


def garbage():
    for level, program in (("gc3-ir", GC3_IR), ("inst-dag", INST_DAG)):
        for what, piece in [("zeros", b"\0"), ("no UTF-8", b"\xff"), ("line breaks", b"\n"), ("blanks", b" "), ("words", b"a "), ("digits", b"9"), ("parentheses", b"(")]:
            yield f"{level} {what}", piece * (8_000_000 // len(piece)), f"--from={level}"
            yield f"{level} {what} behind a program", program.encode() + piece * (8_000_000 // len(piece)), f"--from={level}"


def cases():
    yield from numbers("gc3-ir", GC3_IR)
    yield from numbers("inst-dag", INST_DAG)
    yield from promises()
    yield from garbage()
