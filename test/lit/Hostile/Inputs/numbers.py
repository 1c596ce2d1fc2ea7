# SPDX-License-Identifier: Apache-2.0
"""Cases for hostile.py: numbers at the limits of their types, and beyond, in each place that takes a number."""

NUMBERS = [
    ("2^31 - 1", 2**31 - 1),
    ("2^31", 2**31),
    ("2^32 - 1", 2**32 - 1),
    ("2^32", 2**32),
    ("2^63 - 1", 2**63 - 1),
    ("2^63", 2**63),
    ("2^64", 2**64),
    ("-1", -1),
    ("-2^31", -(2**31)),
    ("-2^63 + 1", -(2**63) + 1),
]

BODY = "collective free() {{ ranks 2; input[1]; output[1]; }} program p implements free() {{ {} }}"
CLAUSES = "collective c() {{ {} }} program p implements c() {{ }}"
SHAPES = "ranks 2; input[1]; output[1]; "
COPY = "chunk(0, input, 0).copy(1, scratch, 0{})"

PLACES = {
    "ranks": "program p implements allreduce(ranks = N, chunks = 1) { }",
    "chunks": "program p implements allreduce(ranks = 2, chunks = N) { }",
    "blocks of a rank": "program p implements alltoall(ranks = 1, chunks = N) { }",
    "root": "program p implements broadcast(ranks = 2, root = N) { }",
    "rank of chunk": BODY.format("chunk(N, input, 0);"),
    "index of chunk": BODY.format("chunk(0, input, N);"),
    "count of chunk": BODY.format("chunk(0, input, 0, N);"),
    "rank of copy": BODY.format("chunk(0, input, 0).copy(N, scratch, 0);"),
    "index of copy": BODY.format("chunk(0, input, 0).copy(1, scratch, N);"),
    "first of slice": BODY.format("chunk(0, input, 0).slice(N, 1);"),
    "count of slice": BODY.format("chunk(0, input, 0).slice(0, N);"),
    "parts of split": BODY.format("chunk(0, input, 0).split(N);"),
    "ch": BODY.format(COPY.format(", ch = N") + ";"),
    "sendtb": BODY.format(COPY.format(", sendtb = N") + ";"),
    "channel": BODY.format("channel (N) { " + COPY.format("") + "; }"),
    "parallelize": BODY.format("parallelize (N) { " + COPY.format("") + "; }"),
    "parallelize, nested": BODY.format("parallelize (N) { parallelize (N) { " + COPY.format("") + "; } }"),
    "instances": BODY.format("instances N; " + COPY.format("") + ";"),
    "begin of sizes": BODY.format("sizes N .. 1;"),
    "end of sizes": BODY.format("sizes 0 .. N;"),
    "tebibytes": BODY.format("sizes 0 .. NTiB;"),
    "range of for": BODY.format("for i in N..N + 1 { }"),
    "end of for": BODY.format("for i in 0..N { break; }"),
    "step of for": BODY.format("for i in 0..N by N { }"),
    "range": BODY.format("let x = (0..N);"),
    "element": BODY.format("let x = [1]; let y = x[N];"),
    "assigned element": BODY.format("var x = [1]; x[N] = 1;"),
    "shift left": BODY.format("let x = 1 << N;"),
    "shifted left": BODY.format("let x = N << 1;"),
    "shift right": BODY.format("let x = 1 >> N;"),
    "sum": BODY.format("let x = N + N;"),
    "difference": BODY.format("let x = -N - N;"),
    "product": BODY.format("let x = N * N;"),
    "quotient": BODY.format("let x = (-N - 1) / -1;"),
    "remainder": BODY.format("let x = (-N - 1) % -1;"),
    "negated": BODY.format("let x = -(-N - 1);"),
    "abs": BODY.format("let x = abs(-N - 1);"),
    "log2": BODY.format("let x = log2(N);"),
    "ranks clause": CLAUSES.format("ranks N; input[1]; output[1];"),
    "input clause": CLAUSES.format("ranks 2; input[N]; output[1];"),
    "blocks clause": CLAUSES.format("ranks 2; input[N][N]; output[1];"),
    "output clause": CLAUSES.format("ranks 65536; input[1]; output[N];"),
    "owner": CLAUSES.format("ranks 2; input[1] on N; output[1];"),
    "alias": CLAUSES.format("ranks 2; input[1]; output[2]; alias input(r, 0) is output(r, N);"),
    "output of ensures": CLAUSES.format(SHAPES + "ensures: output(0, N) == input(0, 0);"),
    "rank of ensures": CLAUSES.format(SHAPES + "ensures: output(N, 0) == input(0, 0);"),
    "input of ensures": CLAUSES.format(SHAPES + "ensures: output(0, 0) == input(0, N);"),
    "reduction of ensures": CLAUSES.format(SHAPES + "ensures: output(0, 0) == reduce(input(q, 0) for q in N..N + 1);"),
}


def cases():
    for place, text in PLACES.items():
        for name, number in NUMBERS:
            yield f"{place} {name}", text.replace("N", f"({number})" if number < 0 else str(number))
