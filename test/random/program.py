# SPDX-License-Identifier: Apache-2.0
"""Programs of the language as trees of statements, with the results that they compute.

A program consists of a collective, statements and settings. `contents` runs the program symbolically: the final
contents of each chunk are a multiset of input chunks. It raises Invalid if the language forbids an operation.
`source` returns the program as a .gc3 file. Unless the collective is a standard one, the file defines a collective that
promises the results of the program.
"""
import collections
import dataclasses

MOST_CONTRIBUTIONS = 40  # limit for a chunk, because sums of sums grow fast


class Invalid(Exception):
    """Raised for programs that the language forbids."""


@dataclasses.dataclass(frozen=True)
class Number:
    """The number base + step * x, where x is the variable of a loop or function."""

    base: int
    step: int = 0

    def at(self, x):
        return self.base + self.step * x

    def __str__(self):
        return str(self.base) if self.step == 0 else f"{self.base} + {self.step} * x"


@dataclasses.dataclass(frozen=True)
class ChunkLocation:
    rank: Number  # modulo the number of ranks
    buffer: str
    index: Number


@dataclasses.dataclass(frozen=True)
class Operation:
    reduces: bool
    source: ChunkLocation
    target: ChunkLocation
    count: int
    directives: tuple = ()  # (word, number): ch, sendtb, recvtb
    spelling: str = "plain"  # "slice": with .slice(); "split": in a loop over chunks; "chain": on the result before it


@dataclasses.dataclass(frozen=True)
class Repeat:
    """Runs the operations for each value of x, in a loop or as calls of a function."""

    values: tuple
    body: tuple
    calls: bool = False


@dataclasses.dataclass(frozen=True)
class Block:
    word: str  # channel, parallelize
    number: int
    body: tuple


@dataclasses.dataclass(frozen=True)
class Collective:
    name: str  # "custom", or the name of a standard collective
    ranks: int
    chunks: int
    input: tuple  # (blocks, chunks per block)
    output: tuple
    alias: str = ""  # "", "same", "first" (rank 0 only), "gather" (input in output), "scatter" (output in input)
    root: int = -1
    on_root: str = ""  # the buffer that only the root has, or ""

    def size(self, rank, buffer):
        blocks, chunks = self.input if buffer == "input" else self.output
        return 0 if buffer == self.on_root and rank != self.root else blocks * chunks

    def place(self, rank, buffer, index):
        """Returns the canonical name of a chunk. A chunk has two names if it is in both buffers of an alias."""
        both = self.size(rank, "input") and self.size(rank, "output")
        if (self.alias == "same" or self.alias == "first" and rank == 0) and buffer == "input" and both:
            return rank, "output", index
        if self.alias == "gather" and buffer == "input" and both:
            return rank, "output", index + rank * self.chunks
        if self.alias == "scatter" and buffer == "output" and both:
            return rank, "input", index + rank * self.chunks
        return rank, buffer, index

    def wanted(self, rank, index):
        """Returns the contents that a standard collective promises in an output chunk."""
        block, chunk = divmod(index, self.chunks)
        everyone = range(self.ranks)
        inputs = {
            "allreduce": lambda: [(q, index) for q in everyone],
            "reduce": lambda: [(q, index) for q in everyone],
            "reduce_scatter": lambda: [(q, rank * self.chunks + index) for q in everyone],
            "broadcast": lambda: [(self.root, index)],
            "allgather": lambda: [(block, chunk)],
            "gather": lambda: [(block, chunk)],
            "alltoall": lambda: [(block, rank * self.chunks + chunk)],
            "scatter": lambda: [(self.root, rank * self.chunks + index)],
        }[self.name]()
        return collections.Counter(inputs)

    def header(self):
        root = f", root = {self.root}" if self.root >= 0 else ""
        return f"{self.name}(ranks = {self.ranks}, chunks = {self.chunks}{root}, inplace = {str(bool(self.alias)).lower()})"


@dataclasses.dataclass(frozen=True)
class Program:
    collective: Collective
    body: tuple
    buffers: tuple = ()  # (name, chunks) of scratch buffers, including "scratch"
    protocol: str = "Simple"
    instances: int = 1
    unpromised: frozenset = frozenset()  # output chunks (rank, chunk) that a custom collective does not promise

    def size(self, rank, buffer):
        return dict(self.buffers)[buffer] if buffer in dict(self.buffers) else self.collective.size(rank, buffer)

    def slice(self, place, x, count):
        """Returns the canonical names of the chunks of a slice."""
        rank, first = place.rank.at(x) % self.collective.ranks, place.index.at(x)
        if first < 0 or first + count > self.size(rank, place.buffer):
            raise Invalid("out of range")
        return [self.collective.place(rank, place.buffer, index) for index in range(first, first + count)]

    def inputs(self):
        """Returns the contents of all chunks at the beginning."""
        return {
            self.collective.place(rank, "input", index): collections.Counter({(rank, index): 1})
            for rank in range(self.collective.ranks)
            for index in range(self.collective.size(rank, "input"))
        }

    def apply(self, operation, contents, x=0):
        source = self.slice(operation.source, x, operation.count)
        target = self.slice(operation.target, x, operation.count)
        if set(source) & set(target):
            raise Invalid("overlaps")
        if any(chunk not in contents for chunk in source + (target if operation.reduces else [])):
            raise Invalid("reads what nothing has written")
        values = [contents[chunk] for chunk in source]
        if operation.reduces:
            values = [value + contents[chunk] for value, chunk in zip(values, target)]
        if any(value.total() > MOST_CONTRIBUTIONS for value in values):
            raise Invalid("too many contributions")
        contents.update(zip(target, values))

    def run(self, body, contents, x=0):
        for statement in body:
            if isinstance(statement, Operation):
                self.apply(statement, contents, x)
            elif isinstance(statement, Block):
                self.run(statement.body, contents, x)
            else:
                for value in statement.values:
                    self.run(statement.body, contents, value)

    def contents(self):
        contents = self.inputs()
        self.run(self.body, contents)
        return contents

    def promise(self):
        """Maps each promised output chunk (rank, chunk) to its contents: a multiset of input chunks."""
        contents = None if self.collective.name != "custom" else self.contents()
        promised = {}
        for rank in range(self.collective.ranks):
            for index in range(self.collective.size(rank, "output")):
                if contents is None:
                    promised[rank, index] = self.collective.wanted(rank, index)
                elif (value := contents.get(self.collective.place(rank, "output", index))) is not None:
                    promised[rank, index] = value
        return {place: value for place, value in promised.items() if place not in self.unpromised}

    def customized(self):
        """Returns the program with a custom collective, so that statements can be removed."""
        return dataclasses.replace(self, collective=dataclasses.replace(self.collective, name="custom"))

    def check(self):
        """Raises Invalid if the program is invalid, or does not fulfil its collective."""
        contents = self.contents()
        if any(contents.get(self.collective.place(r, "output", i)) != value for (r, i), value in self.promise().items()):
            raise Invalid("does not do what the collective promises")

    def source(self):
        return Writer(self).text()


class Writer:
    """Writes a program as text, with numbered names for results and functions."""

    def __init__(self, program):
        self.program = program
        self.functions = []
        self.lines = []
        self.names = 0

    def text(self):
        collective = self.program.collective
        head = collective.header() if collective.name != "custom" else "custom()"
        self.lines = [f"program generated implements {head} {{"]
        if self.program.protocol != "Simple":
            self.lines.append(f"    protocol {self.program.protocol};")
        if self.program.instances != 1:
            self.lines.append(f"    instances {self.program.instances};")
        self.lines += [f"    scratch {name};" for name, _ in self.program.buffers if name != "scratch"]
        self.body(self.program.body, 1)
        self.lines.append("}")
        custom = self.custom() if collective.name == "custom" else []
        return "\n".join(custom + self.functions + self.lines) + "\n"

    def custom(self):
        collective = self.program.collective
        lines = ["collective custom() {", f"    ranks {collective.ranks};"]
        for name, (blocks, chunks) in (("input", collective.input), ("output", collective.output)):
            where = f" on {collective.root}" if name == collective.on_root else ""
            lines.append(f"    {name}[{blocks}][{chunks}]{where};" if blocks > 1 else f"    {name}[{chunks}]{where};")
        block = f"r * {collective.chunks}"
        lines += {
            "": [],
            "same": ["    alias input(r, 0) is output(r, 0);"],
            "first": ["    alias input(0, 0) is output(0, 0);"],
            "gather": [f"    alias input(r, 0) is output(r, {block});"],
            "scatter": [f"    alias output(r, 0) is input(r, {block});"],
        }[collective.alias]
        for (rank, index), value in self.program.promise().items():
            inputs = ", ".join(f"input({q}, {j})" for q, j in sorted(value.elements()))
            if value.total() == 1:
                lines.append(f"    ensures: output({rank}, {index}) == {inputs};")
            else:  # identify chunks by number, because a list can't hold pairs
                most = collective.input[0] * collective.input[1]
                numbers = [q * most + j for q, j in sorted(value.elements())]
                lines.append(
                    f"    ensures: output({rank}, {index}) == reduce(input(k / {most}, k % {most}) for k in {numbers});"
                )
        return lines + ["}"]

    def chunk(self, place, count):
        rank = place.rank if place.rank.step == 0 else f"({place.rank}) % {self.program.collective.ranks}"
        return f"chunk({rank}, {place.buffer}, {place.index}" + (f", {count})" if count != 1 else ")")

    def operation(self, operation, source=None):
        """Returns an operation as an expression. If `source` is given, the expression has this source."""
        words = "".join(f", {word} = {number}" for word, number in operation.directives)
        source = source or self.chunk(operation.source, operation.count)
        if operation.spelling == "slice":
            source += f".slice(0, {operation.count})"
        if operation.reduces:
            return f"{self.chunk(operation.target, operation.count)}.reduce({source}{words})"
        target = operation.target
        rank = target.rank if target.rank.step == 0 else f"({target.rank}) % {self.program.collective.ranks}"
        return f"{source}.copy({rank}, {target.buffer}, {target.index}{words})"

    def split(self, operation, indent):
        """Writes an operation as a loop over single chunks."""
        index = f"{operation.target.index} + part.index - ({operation.source.index})"
        target = dataclasses.replace(operation.target, index=index)
        part = dataclasses.replace(operation, count=1, spelling="plain", target=target)
        self.lines.append(f"{indent}for part in {self.chunk(operation.source, operation.count)}.split({operation.count}) {{")
        self.lines.append(f"{indent}    {self.operation(part, 'part')};")
        self.lines.append(f"{indent}}}")

    def body(self, body, depth):
        indent = "    " * depth
        before, name = None, ""  # the previous statement and the name of its result
        for statement, after in zip(body, body[1:] + (None,)):
            if isinstance(statement, Block):
                self.lines.append(f"{indent}{statement.word} ({statement.number}) {{")
                self.body(statement.body, depth + 1)
                self.lines.append(f"{indent}}}")
            elif isinstance(statement, Repeat):
                self.repeat(statement, depth)
            elif statement.spelling == "split" and statement.count > 1:
                self.split(statement, indent)
            else:
                text = self.operation(statement, name if chains(before, statement) else None)
                if chains(statement, after):
                    self.names += 1
                    name = f"c{self.names}"
                    text = f"let {name} = {text}"
                self.lines.append(f"{indent}{text};")
            before = statement

    def repeat(self, repeat, depth):
        indent = "    " * depth
        if not repeat.calls:
            self.lines.append(f"{indent}for x in {list(repeat.values)} {{")
            self.body(repeat.body, depth + 1)
            self.lines.append(f"{indent}}}")
            return
        function = f"f{len(self.functions)}"
        lines, self.lines = self.lines, [f"fn {function}(x: int) {{"]
        self.body(repeat.body, 1)
        self.functions.append("\n".join(self.lines + ["}"]))
        self.lines = lines + [f"{indent}{function}({value});" for value in repeat.values]


def chains(before, statement):
    """Returns True if the statement can use the result of the previous one as its source."""
    both = isinstance(before, Operation) and isinstance(statement, Operation)
    return (
        both
        and statement.spelling == "chain"
        and not (before.spelling == "split" and before.count > 1)
        and (before.target, before.count) == (statement.source, statement.count)
    )
