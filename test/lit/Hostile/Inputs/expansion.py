# SPDX-License-Identifier: Apache-2.0
"""Short texts that stand for far too much."""

BODY = "collective free() {{ ranks 2; input[1]; output[1]; }} program p implements free() {{ {} }}"
CLAUSES = "collective c() {{ ranks 2; input[2]; output[1]; {} }} program p implements c() {{ }}"
MANY = "0..2147483647"
COPY = "chunk(0, input, 0).copy(1, scratch, 0);"


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
    yield "thread blocks", BODY.format("for i in 0..65536 { chunk(0, input, 0).copy(1, scratch, i, sendtb = i); }")
    yield "scratch", BODY.format("for i in 0..1000 { chunk(0, input, 0).copy(1, scratch, 4194303 - i); }")
    yield "scratch buffers", BODY.format("".join(f"scratch s{i}; " for i in range(1000)))
    yield "scratch on all ranks", "program p implements allreduce(65536, 1) { for r in 0..65536 { chunk(r, input, 0).copy(r, scratch, 4000000); } }"
    yield "splits", "program p implements allreduce(1, 4194304) { while true { let x = chunk(0, input, 0, 4194304).split(4194304); } }"


def promises():
    yield "promises", CLAUSES.format(f"ensures for x in {MANY}: output(0, 0) == input(1, 0);")
    yield "promises in promises", CLAUSES.format("ensures " + ", ".join(f"for x{i} in 0..1000" if i == 0 else f"x{i} in 0..1000" for i in range(9)) + ": output(0, 0) == input(1, 0);")
    yield "promises of nothing", CLAUSES.format(f"ensures for x in {MANY} if x < 0: output(0, 0) == input(1, 0);")
    yield "reduction", CLAUSES.format(f"ensures: output(0, 0) == reduce(input(1, 0) for q in {MANY});")
    yield "reduction in rows", CLAUSES.format(f"ensures: output(0, 0) == reduce(input(q % 2, q % 3 % 2) for q in {MANY});")
    yield "reduction of nothing", CLAUSES.format(f"ensures: output(0, 0) == reduce(input(0, 0) for q in {MANY} if q < 0);")
    yield "owners", "collective c() { ranks 2; input[1] on 0..100000000000; output[1]; } program p implements c() { }"
    yield "owners again and again", "collective c() { ranks 65536; input[1] on [r % 2 for r in 0..60000000]; output[1]; } program p implements c() { }"
    yield "shapes", "program p implements alltoall(65536, 65536) { }"
    yield "as large as can be", "program p implements allreduce(1024, 131072) { }", "--max-steps=1000000"


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
    yield from promises()
    yield from nesting()
