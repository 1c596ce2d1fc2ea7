# SPDX-License-Identifier: Apache-2.0
"""Checks a program: it must compile, the text of its GC3-IR must read back, and it must give correct results in
adversarial orders. If it can be exported as MSCCL XML, the XML must give correct results, too."""
import dataclasses
import math
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "msccl"))
import interpret  # pylint: disable=wrong-import-position,import-error

TIMEOUT = 120  # seconds; normal runs take less than one second
EXPORTS_NOT = {"inexpressible", "runtime-limit"}  # ids of allowed errors: limits of the format and its runtimes


class Failed(Exception):
    """A check that failed, with its output."""

    def __init__(self, check, output):
        super().__init__(f"{check}: {output}")
        self.check = check


@dataclasses.dataclass
class Options:
    """Options for compiling and running a program, derived from the seed."""

    slots: int
    most_blocks: int
    fuses: bool
    dialect: str
    seed: int

    @staticmethod
    def of(seed):
        chosen = random.Random(~seed)
        most_blocks = chosen.choice([108, 108, 108, 108, 108, 108, 4, 8, 12, 16])
        dialect = chosen.choice(["msccl", "msccl", "rccl"])
        return Options(chosen.choice([1, 1, 2, 8]), most_blocks, chosen.random() < 0.9, dialect, seed)

    def words(self):
        words = [f"--fifo-slots={self.slots}", f"--max-threadblocks={self.most_blocks}"]
        return words if self.fuses else words + ["--no-fusion"]


class Checker:
    """Runs the checks of a program in a separate folder."""

    def __init__(self, tools, folder, program, options):
        self.tools = tools
        self.folder = folder
        self.program = program
        self.options = options
        self.random = random.Random(options.seed)
        with open(self.path("generated.gc3"), "w", encoding="utf-8") as file:
            file.write(program.source())

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, check, name, *words):
        try:
            result = subprocess.run(
                [self.tools[name], *words], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failed(check, f"{name} does not end") from None
        if result.returncode not in (0, 1):
            raise Failed(check, f"{name} exits with {result.returncode}\n{result.stderr[-2000:]}")
        return result

    def must(self, check, name, *words):
        result = self.tool(check, name, *words)
        if result.returncode != 0:
            raise Failed(check, (result.stdout + result.stderr)[-3000:])
        return result.stdout

    def run(self):
        """Returns the names of the checks that the program passes. Returns none if it needs too many thread blocks."""
        if not self.compile():
            return []
        passed = ["compile"]
        self.read_back()
        passed.append("read back")
        self.execute()
        passed.append("execute")
        if self.export():
            passed.append("export")
        return passed

    def refusal(self, result):
        return re.findall(r"error: .*\[([a-z-]+)\]$", result.stderr, re.M)

    def compile(self):
        words = ["generated.gc3", *self.options.words()]
        result = self.tool("compile", "gc3c", *words, "--verify=exact", "-o", "made.gc3b")
        if result.returncode != 0:
            pinned = "sendtb" in self.program.source() or "recvtb" in self.program.source()
            allowed = {"too-many-thread-blocks"} | ({"thread-block-conflict"} if pinned else set())
            if set(self.refusal(result)) - allowed or not self.refusal(result):
                raise Failed("compile", result.stderr[-3000:])
            return False
        self.must("compile", "gc3c", *words, "--emit=gc3-ir", "-o", "made.gc3-ir")
        return True

    def read_back(self):
        self.must("read back", "gc3c", "--from=gc3-ir", "made.gc3-ir", "--emit=gc3-ir", "-o", "again.gc3-ir")
        self.must("read back", "gc3c", "--from=gc3-ir", "made.gc3-ir", "-o", "again.gc3b")
        for kind in ("gc3-ir", "gc3b"):
            with open(self.path(f"made.{kind}"), "rb") as made, open(self.path(f"again.{kind}"), "rb") as again:
                if made.read() != again.read():
                    raise Failed("read back", f"the {kind} is another one")

    def execute(self):
        """Runs the program in adversarial orders. Some counts split evenly into chunks, others do not; tiles have one
        element or more."""
        collective = self.program.collective
        whole = math.lcm(collective.input[1], collective.output[1])
        for repetition in range(2):
            count = self.random.choice([1, whole, 3 * whole, self.random.randint(1, 40)])
            type_, operation = self.random.choice([("int32", "sum"), ("uint32", "prod"), ("uint8", "max"), ("float", "sum")])
            self.must(
                "execute", "gc3-run", "made.gc3b", "--order", "adversarial", "--seed", str(2 * self.options.seed + repetition),
                "--count", str(count), "-d", type_, "-o", operation, "-n", "1", "-w", "0", "--rounds", "3",
                "--tile-elements", str(self.random.choice([1, 1, 2, 3, 100])),
                "--slots", str(self.random.choice([self.options.slots, self.options.slots, self.options.slots + 1])),
            )  # fmt: skip

    def export(self):
        result = self.tool(
            "export", "gc3c", "generated.gc3", *self.options.words(), "--emit=msccl-xml",
            f"--msccl-dialect={self.options.dialect}", "-o", "made.xml",
        )  # fmt: skip
        if result.returncode != 0:
            reasons = set(self.refusal(result))
            if not reasons or reasons - EXPORTS_NOT:
                raise Failed("export", result.stderr[-3000:])
            return False
        custom = self.program.collective.name == "custom"
        if custom and self.program.collective.alias in ("gather", "scatter"):
            return False  # the interpreter supports only custom collectives with two buffers of the same shape
        try:
            interpret.interpret(self.path("made.xml"), 3, self.wanted() if custom else None)
        except interpret.Wrong as wrong:
            raise Failed("export", str(wrong)) from None
        return True

    def wanted(self):
        """Returns the promises of the collective on slots, as an expression for `interpret.py --ensures`."""
        with open(self.path("made.xml"), encoding="utf-8") as file:
            slots = int(re.search(r'nchunksperloop="(\d+)"', file.read()).group(1))
        collective = self.program.collective
        parts = slots // max(blocks * chunks for blocks, chunks in (collective.input, collective.output))
        table = {place: list(value.elements()) for place, value in self.program.promise().items()}
        chunk = f"(r, c // {parts})"
        return f"[(q, j * {parts} + c % {parts}) for q, j in {table}[{chunk}]] if {chunk} in {table} else None"
