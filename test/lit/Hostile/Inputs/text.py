# SPDX-License-Identifier: Apache-2.0
"""Cases for hostile.py: garbage, and words and lines that are too long."""
import random

MIB = 1 << 20
DEEP = {
    "a string of values", "an import", "closing braces", "comments", "functions", "line comments", "numbers", "operators",
    "parameters", "quotes", "strings", "stray characters", "zeros",
}


def garbage():
    noise = random.Random(1).randbytes(10 * MIB)
    yield "random bytes", noise
    yield "random ASCII", bytes(32 + byte % 95 for byte in noise[: 8 * MIB])
    for what, piece in [
        ("zeros", b"\0"),
        ("no UTF-8", b"\xff"),
        ("half a character", b"\xf0\x9f\x98"),
        ("stray characters", b"@"),
        ("quotes", b'"'),
        ("line breaks", b"\n"),
        ("carriage returns", b"\r"),
        ("open parentheses", b"("),
        ("closing braces", b"}"),
        ("words", b"a "),
        ("numbers", b"1 "),
        ("strings", b'"" '),
        ("comments", b"/**/"),
        ("line comments", b"//\n"),
        ("operators", b"-"),
        ("statements", b";"),
        ("imports", b'import "nowhere";'),
    ]:
        yield what, piece * (8 * MIB // len(piece))
        yield "more " + what, piece * (10 * MIB // len(piece))


def long_words():
    many = 8_000_000
    yield "one word", "a" * many
    yield "a name", "param " + "a" * many + ": int = 1;"
    yield "an unknown name", "param p: int = " + "a" * many + ";"
    yield "a number", "param p: int = " + "9" * many + ";"
    yield "a string", 'param p: string = "' + "a" * many + '";'
    yield "a string of values", 'param p: string = "' + "{1}" * (many // 3) + '";'
    yield "a string without an end", 'param p: string = "' + "a" * many
    yield "a string of escapes", 'param p: string = "' + "\\n" * (many // 2) + '";'
    yield "an import", 'import "' + "a/" * (many // 2) + '";'
    yield "a comment without an end", "/*" + "*" * many
    yield "an error at the end of a line", " " * many + "let"
    yield "an error at the begin of a line", "let" + " " * many


def many_items():
    n = 100_000
    yield "equal names", "param a: int = 1;" * n
    yield "unknown names", "".join(f"param a{i}: int = name{i};" for i in range(n))
    yield "functions", "".join(f"fn f{i}() = {i};" for i in range(n))
    yield "programs", "".join(f"program p{i} implements allreduce(2, 1) {{ }}" for i in range(n // 10))
    yield "unknown names, 100 errors", "".join(f"param a{i}: int = name{i};" for i in range(n // 100)), "--error-limit=100"
    yield "locals", "fn f() {" + "".join(f"let a{i} = {i};" for i in range(n)) + "}"
    yield "parameters", "fn f(" + ",".join(f"a{i}: int" for i in range(n)) + ") { }"
    yield "elements", "param p: [int] = [" + "1," * (2 * n) + "];"


def cases():
    yield from garbage()
    yield from long_words()
    yield from many_items()
