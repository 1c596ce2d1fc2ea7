# SPDX-License-Identifier: Apache-2.0
"""Cases for hostile.py: short texts that describe programs of enormous size."""

MANY_STEPS = {
    "loop", "endless loop", "list of nothing", "tree of calls", "references to many chunks", "copies of many chunks",
    "copies of many chunks to themselves", "sums of many chunks", "promises", "promises in promises", "promises of nothing",
    "reduction", "reduction of nothing",
}
DEEP = {
    "chain of functions", "copies until a limit", "programs with many chunks", "promises for all chunks that there may be", "splits",
}

BODY = "collective free() {{ ranks 2; input[1]; output[1]; }} program p implements free() {{ {} }}"
CLAUSES = "collective c() {{ ranks 2; input[2]; output[1]; {} }} program p implements c() {{ }}"
MANY = "0..2147483647"
COPY = "chunk(0, input, 0).copy(1, scratch, 0);"

# Each of these takes minutes if some time grows with the square of the number of ranks or channels.
SHIFT = """collective shift(n: int) { ranks n; input[1]; output[1]; ensures for r in 1..n: output(r, 0) == input(r - 1, 0); }
program p implements shift(65536) { for i in 1..65536 { chunk(i - 1, input, 0).copy(i, output, 0, sendtb = 0, recvtb = 0); } }"""
ON_CHANNELS = """program p implements allreduce(ranks = 2, chunks = 131072, inplace = true) {
  for i in 0..131072 { channel (i % 65536) { chunk(0, input, i).reduce(chunk(1, input, i)).copy(1, input, i); } } }"""
TWICE = """program p implements allreduce(ranks = 65536, chunks = 1, inplace = true) { var s = chunk(0, input, 0);
  for r in 1..65536 { s = s.reduce(chunk(r, input, 0)); } s = s.reduce(chunk(1, input, 0)); for r in 1..65536 { s.copy(r, input, 0); } }"""


# A chain of messages between random ranks, which ends at a rank without space for another thread block.
WALK = """collective free() { ranks 71; input[2]; output[2]; } program p implements free() {
  for r in 11..71 { chunk(r, input, 0).copy(10, scratch, r); chunk(10, input, 1).copy(r, scratch, 0); }
  var c = chunk(0, input, 0); var x = 12345; var r = 0;
  for i in 0..400000 { x = (x * 1103515245 + 12345) % 2147483648; r = (r + 1 + (x / 65536) % 9) % 10; c = c.copy(r, scratch, i % 50); }
  c.copy(10, scratch, 0); }"""
CONFLICTS = "for i in 0..60000 {{ chunk(0, input, 0).copy(1, scratch, i, ch = i, sendtb = i); }} " \
    "for i in 0..60000 {{ chunk(0, input, 0).copy(1, scratch, i, ch = {}, sendtb = 7); }}"


def nested(opening, inner, closing, depth):
    return opening * depth + inner + closing * depth


def programs():
    yield "loop", BODY.format(f"for i in {MANY} {{ }}")
    yield "loops in loops", BODY.format(nested("for i in 0..1000 { ", COPY, " }", 9))
    yield "endless loop", BODY.format("while true { }")
    yield "endless copies", BODY.format("while true { " + COPY + " }")
    yield "list", BODY.format(f"let x = ({MANY});")
    yield "lists in a list", BODY.format("let x = [[j for j in 0..100000] for i in 0..100000];")
    yield "list of nothing", BODY.format(f"let x = [i for i in {MANY} if i < 0];")
    yield "doubled list", BODY.format("var x = [1]; while true { x = x + x; }")
    yield "doubled string", BODY.format('var x = "ab"; while true { x = x + x; }')
    yield "strings", BODY.format('var x = [""]; while true { x = x + ["' + "a" * 1000 + '{len(x)}"]; }')
    yield "copies of a list", BODY.format("var x = [[1]]; for i in 0..100000000 { x = x + [x[0] + [i]]; x[0] = x[i]; }")
    yield "recursion", "fn f(n: int) -> int { return f(n + 1); } " + BODY.format("f(0);")
    yield "tree of calls", "fn f(n: int) -> int { return n == 0 ? 0 : f(n - 1) + f(n - 1); } " + BODY.format("f(900);")
    yield "chain of functions", "fn f0() = 1; " + "".join(f"fn f{i}() = f{i - 1}() + f{i - 1}(); " for i in range(1, 100)) + BODY.format("f99();")
    yield "chain of params", "param a0: [int] = [1]; " + "".join(f"param a{i}: [int] = a{i - 1} + a{i - 1}; " for i in range(1, 100)) + BODY.format("")
    yield "parallel instances", BODY.format("parallelize (65536) { for i in 0..1000 { " + COPY + " } }")
    yield "parallel instances that don't fit", BODY.format("".join(f"parallelize ({n}) {{ {COPY} }}" for n in (65521, 65519, 65497)))
    yield "channels", BODY.format("for i in 0..65536 { chunk(0, input, 0).copy(1, scratch, i, ch = i); }")
    yield "thread blocks", BODY.format("for i in 0..1000000 { chunk(0, input, 0).copy(1, scratch, i, sendtb = i % 65536); }")
    yield "copies of thread blocks", BODY.format("parallelize (65536) { for i in 0..200 { chunk(0, input, 0).copy(0, scratch, i, sendtb = i); } }")
    yield "cuts of a chain", WALK
    yield "conflicts with one message", BODY.format(CONFLICTS.format(65535))
    yield "conflicts with many messages", BODY.format(CONFLICTS.format("60000 + i % 5000"))
    yield "a thread block number on all ranks", SHIFT
    yield "channels of two ranks", ON_CHANNELS, "--max-threadblocks=1000000"
    yield "a mistake on all ranks", TWICE
    yield "scratch", BODY.format("for i in 0..1000 { chunk(0, input, 0).copy(1, scratch, 4194303 - i); }")
    yield "scratch buffers", BODY.format("".join(f"scratch s{i}; " for i in range(1000)))
    yield "scratch on all ranks", "program p implements allreduce(65536, 1) { for r in 0..65536 { chunk(r, input, 0).copy(r, scratch, 4000000); } }", "--max-slots=67108864"
    yield "splits", "program p implements allreduce(1, 4194304) { while true { let x = chunk(0, input, 0, 4194304).split(4194304); } }"


def large_operations():
    """Short programs with operations on many chunks."""
    one = "program p implements allreduce(ranks = 1, chunks = {}, inplace = true) {{ {} }}"
    everything = "chunk(0, input, 0, 1000000)"
    yield "references to many chunks", one.format(4000000, "for i in 0..249000000 { let c = chunk(0, input, 0, 4000000); }")
    yield "copies of many chunks", one.format(1000000, f"for i in 0..16000000 {{ {everything}.copy(0, scratch, 0); }}")
    yield "copies of many chunks to themselves", one.format(1000000, f"let c = {everything}; while true {{ c.copy(0, input, 0); }}")
    yield "sums of many chunks", one.format(1000000, f"var s = {everything}.copy(0, scratch, 0); while true {{ s = s.reduce({everything}); }}")
    yield "copies until a limit", one.format(1000000, f"for i in 0..540 {{ {everything}.copy(0, scratch, 0); }}"), "--max-steps=1000000000"
    yield "copies within limits", one.format(1000000, f"for i in 0..100 {{ {everything}.copy(0, scratch, 0); }}")
    yield "copies of many slots", one.format(1000, "parallelize (65536) { chunk(0, input, 0).copy(0, scratch, 0); } for i in 0..1000 { chunk(0, input, 0, 1000).copy(0, scratch, 1); }")
    single = "for i in 0..250000 { chunk(0, input, i).copy(0, scratch, i); } for i in 0..400 { chunk(0, "
    readers = one.format(250000, single + "input, 0, 250000).copy(0, scratch, 250000); }")
    yield "readers of single chunks, then of all", readers
    yield "readers of single chunks, then of all, as Chunk DAG", readers, "--emit=chunk-dag"
    yield "writers of single chunks, then readers of all", one.format(250000, single + "scratch, 0, 250000).copy(0, scratch, 250000); }")


def promises():
    yield "promises for all chunks that there may be", "program a implements alltoall(ranks = 4096, chunks = 2, inplace = true) { }"
    yield "promises for more chunks", "program a implements alltoall(ranks = 4096, chunks = 3, inplace = true) { }"
    yield "programs with many chunks", "".join(f"program p{i} implements alltoall(ranks = 2048, chunks = 2, inplace = true) {{ sizes {i}..{i + 1}; }}\n" for i in range(9))
    yield "promises", CLAUSES.format(f"ensures for x in {MANY}: output(0, 0) == input(1, 0);")
    yield "promises in promises", CLAUSES.format("ensures " + ", ".join(f"for x{i} in 0..1000" if i == 0 else f"x{i} in 0..1000" for i in range(9)) + ": output(0, 0) == input(1, 0);")
    yield "promises of nothing", CLAUSES.format(f"ensures for x in {MANY} if x < 0: output(0, 0) == input(1, 0);")
    yield "reduction", CLAUSES.format(f"ensures: output(0, 0) == reduce(input(1, 0) for q in {MANY});")
    yield "reduction in rows", CLAUSES.format(f"ensures: output(0, 0) == reduce(input(q % 2, q % 3 % 2) for q in {MANY});")
    yield "reduction of nothing", CLAUSES.format(f"ensures: output(0, 0) == reduce(input(0, 0) for q in {MANY} if q < 0);")
    yield "owners", "collective c() { ranks 2; input[1] on 0..100000000000; output[1]; } program p implements c() { }"
    yield "owners again and again", "collective c() { ranks 65536; input[1] on [r % 2 for r in 0..60000000]; output[1]; } program p implements c() { }"
    yield "arguments of collectives", f'collective c(l: [string]) {{ ranks 1; input[1]; output[1]; }} program p implements c(["{"x" * 60000}" for i in 0..100000]) {{ }}', "--max-steps=1000000"
    yield "shapes", "program p implements alltoall(65536, 65536) { }"
    yield "as large as can be", "program p implements allreduce(1024, 32768) { }", "--max-steps=1000000"


def nesting():
    for what, opening, closing in [
        ("parentheses", "(", ")"),
        ("lists", "[", "]"),
        ("negations", "-", ""),
        ("sums", "1 + ", ""),
        ("conditions", "true ? 1 : ", ""),
        ("comprehensions", "[x for x in ", "]"),
    ]:
        for depth in (390, 100_000):
            yield f"{depth} {what}", "param a: int = " + nested(opening, "1", closing, depth) + ";"
    for what, opening in [
        ("blocks", "{ "),
        ("ifs", "if true { "),
        ("loops", "for i in 0..2 { "),
        ("channels", "channel (0) { "),
        ("parallelizes", "parallelize (2) { "),
    ]:
        for depth in (390, 100_000):
            yield f"{depth} {what}", BODY.format(nested(opening, "", "}", depth))
    yield "elses", BODY.format(nested("if false { } else ", "{ }", "", 100_000))
    yield "types", "param a: " + nested("[", "int", "]", 100_000) + " = [];"


def cases():
    yield from programs()
    yield from large_operations()
    yield from promises()
    yield from nesting()
