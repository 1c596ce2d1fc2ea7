# SPDX-License-Identifier: Apache-2.0
"""Generates a valid program for each seed.

Half of the programs implement a standard collective: they combine each output chunk along a random tree, through
scratch. Scratch chunks are reused when their contents are no longer needed. The other programs run random operations
and promise the results of these operations. """
import dataclasses
import random

from program import Block, ChunkLocation, Collective, Invalid, Number, Operation, Program, Repeat


def generate(seed):
    return Generator(random.Random(seed)).program()


class Generator:
    def __init__(self, source):
        self.random = source
        self.channels = source.choice([1, 2, 4])
        self.pins = source.random() < 0.12

    def chance(self, probability):
        return self.random.random() < probability

    def program(self):
        program = self.standard() if self.chance(0.5) else self.custom()
        settings = {"protocol": self.random.choice(["Simple", "Simple", "LL", "LL128"])}
        if self.chance(0.12):
            settings["instances"] = self.random.choice([2, 3])
        return dataclasses.replace(program, **settings)

    # Programs of random operations.

    def custom(self):
        ranks = self.random.choice([1, 2, 2, 3, 3, 4, 5, 6, 8, 12])
        alias = self.random.choice(["", "", "", "same", "first", "gather", "scatter"])
        chunks = self.random.randint(1, 5 if alias in ("", "same", "first") else 2)
        shapes = {"": ((1, chunks), (1, self.random.randint(1, 6))), "same": ((1, chunks), (1, chunks)), "first": ((1, chunks), (1, chunks))}
        shapes |= {"gather": ((1, chunks), (ranks, chunks)), "scatter": ((ranks, chunks), (1, chunks))}
        collective = Collective("custom", ranks, chunks, *shapes[alias], alias)
        names = ["scratch", "spare"][: self.random.randint(1, 2)]
        program = Program(collective, (), tuple((name, self.random.randint(chunks, chunks + 4)) for name in names))
        body = self.anything(program, self.random.choice([4, 12, 30, 80]))
        program = dataclasses.replace(program, body=tuple(self.dress(body)))
        skipped = frozenset(place for place in program.promise() if self.chance(0.15))
        return dataclasses.replace(program, unpromised=skipped)

    def anything(self, program, operations):
        """Returns random statements. Each is valid after the statements before it."""
        contents, body, last = program.inputs(), [], None
        for _ in range(operations):
            for _ in range(20):
                statement = self.repeat(program) if self.chance(0.1) else self.operation(program, last)
                after = dict(contents)
                try:
                    program.run((statement,), after)
                except Invalid:
                    continue
                contents, last = after, statement
                body.append(statement)
                break
        return body

    def place(self, program, loop):
        buffer = self.random.choice(["input", "output"] + [name for name, _ in program.buffers if not loop or name == "scratch"])
        rank = Number(self.random.randrange(program.collective.ranks), self.random.choice([0, 1, 1, 2]) if loop else 0)
        most = program.size(0, buffer)
        return ChunkLocation(rank, buffer, Number(self.random.randrange(most), self.random.choice([0, 0, 1]) if loop else 0))

    def operation(self, program, last=None, loop=False):
        source, target = self.place(program, loop), self.place(program, loop)
        count = self.random.choice([1, 1, 1, 2, 2, 3, 4])
        if isinstance(last, Operation) and self.chance(0.5):
            source, count = last.target, last.count
        if self.chance(0.12):
            target = dataclasses.replace(target, rank=source.rank)
        spelling = self.random.choice(["plain", "chain", "chain", "slice", "split"])
        return Operation(self.chance(0.45), source, target, count, self.directives(), spelling)

    def repeat(self, program):
        values = tuple(self.random.sample(range(4), self.random.randint(1, 3)))
        body = [self.operation(program, loop=True)]
        if self.chance(0.4):
            body.append(self.operation(program, body[0], loop=True))
        return Repeat(values, tuple(body), self.chance(0.5))

    # Programs that implement a standard collective.

    def standard(self):
        name = self.random.choice(
            ["allreduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "broadcast", "reduce", "gather", "scatter"]
        )
        ranks = self.random.choice([1, 2, 3, 4, 5, 6, 7, 12])
        chunks = self.random.randint(1, 6 if name in ("allreduce", "broadcast", "reduce") else 2)
        blocks = {"allgather": (1, ranks), "gather": (1, ranks), "alltoall": (ranks, ranks)}
        blocks |= {"reduce_scatter": (ranks, 1), "scatter": (ranks, 1)}
        inputs, outputs = blocks.get(name, (1, 1))
        on_root = {"broadcast": "input", "scatter": "input", "reduce": "output", "gather": "output"}.get(name, "")
        root = self.random.randrange(ranks) if on_root else -1
        alias = "" if self.chance(0.5) else "same" if inputs == outputs else "gather" if inputs < outputs else "scatter"
        collective = Collective(name, ranks, chunks, (inputs, chunks), (outputs, chunks), alias, root, on_root)
        router = Router(self.random, collective)
        operations = [
            dataclasses.replace(operation, directives=self.directives(), spelling=self.random.choice(["plain", "chain", "split"]))
            for operation in router.route()
        ]
        size = ("scratch", max(router.used, 1))
        return Program(collective, tuple(self.dress(operations)), (size,))

    # Directives.

    def directives(self):
        words = []
        if self.chance(0.15):
            words.append(("ch", self.random.randrange(self.channels)))
        if self.pins and self.chance(0.4):
            words.append(("sendtb", self.random.randrange(6)))
        if self.pins and self.chance(0.4):
            words.append(("recvtb", self.random.randrange(6)))
        return tuple(words)

    def dress(self, body, depth=0, instances=1):
        """Wraps some runs of statements in parallelize or channel blocks, which can nest."""
        result = []
        position = 0
        while position < len(body):
            run = min(self.random.choice([1, 2, 4, 8]), len(body) - position)
            part = body[position : position + run]
            position += run
            if depth == 3 or self.chance(0.7):
                result += part
            elif self.chance(0.5) and instances <= 6:
                number = self.random.choice([1, 2, 2, 3, 4])
                result.append(Block("parallelize", number, tuple(self.dress(part, depth + 1, instances * number))))
            else:
                number = self.random.randrange(self.channels)
                result.append(Block("channel", number, tuple(self.dress(part, depth + 1, instances))))
        return result


class Router:
    """Makes operations that implement a standard collective: one output range after the other."""

    def __init__(self, source, collective):
        self.random = source
        self.collective = collective
        self.reuse = source.random() < 0.7
        self.used = 0  # number of scratch chunks on each rank
        self.free = {}  # by rank: scratch ranges (first, length) whose contents are no longer needed
        self.operations = []
        self.saved = {}  # for an input range: the scratch range with a copy that is never released

    def place(self, rank, buffer, index):
        return ChunkLocation(Number(rank), buffer, Number(index))

    def add(self, reduces, source, target, count):
        """Adds an operation between two places (rank, buffer, index)."""
        if self.collective.place(*source) != self.collective.place(*target):
            self.operations.append(Operation(reduces, self.place(*source), self.place(*target), count))

    def scratch(self, rank, count):
        """Returns a free range of scratch chunks on the rank."""
        free = self.free.setdefault(rank, [])
        for position, (first, length) in enumerate(free):
            if length == count and self.reuse:
                del free[position]
                return rank, "scratch", first
        top = self.used
        self.used += count
        return rank, "scratch", top

    def release(self, place, count):
        if place[1] == "scratch":
            self.free.setdefault(place[0], []).append((place[2], count))

    def goals(self):
        """Yields ranges of output chunks that lie within a block, as (rank, first chunk, count)."""
        for rank in range(self.collective.ranks):
            size = self.collective.size(rank, "output")
            index = 0
            while index < size:
                most = self.collective.chunks - index % self.collective.chunks
                count = self.random.randint(1, most)
                yield rank, index, count
                index += count

    def inputs(self, goal):
        """Returns the input ranges, as (rank, first chunk), that the goal combines."""
        rank, index, _ = goal
        return sorted(self.collective.wanted(rank, index))

    def route(self):
        goals = list(self.goals())
        self.random.shuffle(goals)
        self.save(goals)
        for goal in goals:
            self.reach(goal)
        return self.operations

    def save(self, goals):
        """Copies to scratch each input range that some goal overwrites with its output."""
        if not self.collective.alias:
            return
        written = {
            self.collective.place(rank, "output", index + k) for rank, index, count in goals for k in range(count)
        }
        for goal in goals:
            for rank, first in self.inputs(goal):
                places = [self.collective.place(rank, "input", first + k) for k in range(goal[2])]
                key = rank, first, goal[2]
                if key not in self.saved and written & set(places):
                    where = self.scratch(self.random.choice([rank, self.random.randrange(self.collective.ranks)]), goal[2])
                    self.saved[key] = where
                    self.add(False, (rank, "input", first), where, goal[2])

    def reach(self, goal):
        """Combines the inputs of a goal, two at a time, and copies the result to the output."""
        rank, index, count = goal
        parts = [self.saved.get((q, first, count), (q, "input", first)) for q, first in self.inputs(goal)]
        borrowed = set(parts)  # inputs and permanent copies, which must not be written
        while len(parts) > 1:
            self.random.shuffle(parts)
            source, target = parts.pop(), parts.pop()
            if target in borrowed:
                copy = self.scratch(self.random.choice([target[0], source[0], rank]), count)
                self.add(False, target, copy, count)
                target = copy
            self.add(True, source, target, count)
            if source not in borrowed:
                self.release(source, count)
            parts.append(target)
        self.travel(parts[0], (rank, "output", index), count, parts[0] not in borrowed)

    def travel(self, place, home, count, owned):
        """Copies data from `place` to `home`, sometimes through other ranks. Releases `place` if it is `owned`."""
        for _ in range(self.random.choice([0, 0, 0, 1, 2])):
            stop = self.scratch(self.random.randrange(self.collective.ranks), count)
            self.add(False, place, stop, count)
            if owned:
                self.release(place, count)
            place, owned = stop, True
        self.add(False, place, home, count)
        if owned:
            self.release(place, count)
