# SPDX-License-Identifier: Apache-2.0
"""Runs MSCCL XML as the interpreters of the MSCCL runtimes do, and checks the results.

Implements docs/msccl-xml.md independently: shares no code with the compiler. The data of a slot is the multiset of
input slots whose combination it holds. Thread blocks run in random order. Cuts a step of n slots into messages of a
random size. A connection holds as many messages as the protocol has slots. Runs each file in every mode that it
declares (in place, out of place), once for each seed. Prints "N runs" for each file, and ends with the first error. """
import argparse
import collections
import itertools
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

MOST_SOURCES = 16  # largest number of sources of a `re` command, which can merge several steps
SLOTS = {"Simple": 2, "LL": 8, "LL128": 8}
LIMITS = {"msccl": (216, 256), "rccl": (64, 64)}  # thread blocks per rank, steps per thread block
COLLECTIVES = {
    "msccl": {"allreduce", "allgather", "reduce_scatter", "alltoall", "custom"},
    "rccl": {"allreduce", "allgather", "reducescatter", "alltoall"},
}
STEP_KEYS = ["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"]
RECEIVES = {"r", "rcs", "rrs", "rrc", "rrcs"}
SENDS = {"s", "rcs", "rrs", "rrcs"}
READS = {"s", "rrs", "rrc", "rrcs", "cpy", "re"}
WRITES = {"r", "rcs", "rrc", "rrcs", "cpy", "re"}
LOCAL = {"cpy", "re"}


class Wrong(Exception):
    """An error in the file, or in its results."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


class XmlStep:
    """A step of the file."""

    def __init__(self, node, where):
        require(list(node.keys()) == STEP_KEYS, f"{where}: attributes {list(node.keys())}")
        self.where = where
        self.type = node.get("type")
        self.src, self.dst = node.get("srcbuf"), node.get("dstbuf")
        self.number, self.srcoff, self.dstoff = (int(node.get(key)) for key in ("s", "srcoff", "dstoff"))
        self.count, self.block, self.step = (int(node.get(key)) for key in ("cnt", "depid", "deps"))
        self.publishes = int(node.get("hasdep"))

    def waits(self):
        return self.block >= 0

    def touched(self):
        return [(self.src, self.srcoff)] * (self.type in READS) + [(self.dst, self.dstoff)] * (self.type in WRITES)

    def continues(self, other):
        """Returns True if an interpreter would merge this `re` step with the step `other` before it."""
        return (
            other is not None
            and self.type == other.type == "re"
            and not self.waits()
            and not other.publishes
            and (self.src, self.dst, self.dstoff) == (other.src, other.dst, other.dstoff)
        )

    def reads_target(self):
        return self.src == self.dst and abs(self.srcoff - self.dstoff) < self.count


class Block:
    def __init__(self, node, rank, index):
        self.where = f"gpu {rank} tb {index}"
        require(list(node.keys()) == ["id", "send", "recv", "chan"], f"{self.where}: attributes {list(node.keys())}")
        self.rank = rank
        require(int(node.get("id")) == index, f"{self.where}: has id {node.get('id')}")
        self.send, self.recv, self.channel = (int(node.get(key)) for key in ("send", "recv", "chan"))
        self.steps = [XmlStep(step, f"{self.where} step {i}") for i, step in enumerate(node)]


class File:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        # A comment with a licence can come before or after the root element.
        root = ElementTree.fromstring(self.text[self.text.index("<algo ") : self.text.rindex("</algo>") + len("</algo>")])
        self.dialect = "rccl" if "outofplace" in root.keys() else "msccl"
        self.protocol, self.collective = root.get("proto"), root.get("coll")
        self.chunks, self.ranks, self.channels = (int(root.get(k)) for k in ("nchunksperloop", "ngpus", "nchannels"))
        self.modes = [True] * (root.get("inplace") == "1") + [False] * (root.get("outofplace", "") != "0" and (
            root.get("inplace") == "0" or root.get("outofplace") == "1"))
        self.sizes = [{name: int(gpu.get(f"{name}_chunks")) for name in "ios"} for gpu in root]
        self.blocks = [[Block(tb, rank, i) for i, tb in enumerate(gpu)] for rank, gpu in enumerate(root)]
        require([int(gpu.get("id")) for gpu in root] == list(range(self.ranks)), "gpu ids are not 0 to ngpus - 1")
        self.check()

    def check(self):
        require(self.protocol in SLOTS, f"protocol {self.protocol}")
        require(self.collective in COLLECTIVES[self.dialect], f"{self.dialect} has no collective {self.collective}")
        require(self.modes, "is for no mode")
        blocks = list(itertools.chain.from_iterable(self.blocks))
        require(self.channels == max(block.channel for block in blocks) + 1, "nchannels is not the highest channel and 1")
        most_blocks, most_steps = LIMITS[self.dialect]
        for rank, own in enumerate(self.blocks):
            require(0 < len(own) <= most_blocks, f"gpu {rank}: {len(own)} thread blocks")
            for block in own:
                require(len(block.steps) <= most_steps, f"{block.where}: {len(block.steps)} steps")
                self.check_block(block)
            self.check_waits(own)
        self.connections = self.connect(blocks)

    def check_block(self, block):
        require(0 <= block.channel < 32, f"{block.where}: channel {block.channel}")
        for peer in (block.send, block.recv):
            require(-1 <= peer < self.ranks and peer != block.rank, f"{block.where}: peer {peer}")
        for step in block.steps:
            self.check_step(block, step)

    def check_step(self, block, step):
        number = block.steps.index(step)
        require(step.number == number, f"{step.where}: is numbered {step.number}")
        require(step.type in RECEIVES | SENDS | LOCAL | {"nop"}, f"{step.where}: type {step.type}")
        require(step.src in {"i", "o", "s"} and step.dst in {"i", "o", "s"}, f"{step.where}: unknown buffer")
        require(step.publishes in (0, 1), f"{step.where}: hasdep {step.publishes}")
        require(step.waits() == (step.step >= 0), f"{step.where}: half a wait")
        if step.type == "nop":
            require(step.waits() and step.count == 0 and not step.publishes, f"{step.where}: a nop that is more or less")
            require(number + 1 < len(block.steps), f"{step.where}: a nop at the end")
            require(block.steps[number + 1].waits(), f"{step.where}: a run of nops must end in a step with a wait")
            return
        require(1 <= step.count <= 71, f"{step.where}: count {step.count}")
        require(step.type not in RECEIVES or block.recv >= 0, f"{step.where}: receives from nobody")
        require(step.type not in SENDS or block.send >= 0, f"{step.where}: sends to nobody")
        for buffer, offset in step.touched():
            size = self.sizes[block.rank][buffer]
            require(0 <= offset and offset + step.count <= size, f"{step.where}: {buffer}[{offset}..] of {size}")

    def check_waits(self, own):
        """Checks which steps publish: those that another step waits for, and those that an interpreter must not merge
        with the next step. No other step may publish."""
        wanted = set()
        for step in itertools.chain.from_iterable(block.steps for block in own):
            if not step.waits():
                continue
            require(step.block < min(len(own), 128), f"{step.where}: waits for thread block {step.block}")
            require(step.step < len(own[step.block].steps), f"{step.where}: waits for a step that is not there")
            target = own[step.block].steps[step.step]
            require(target.publishes, f"{step.where}: waits for {target.where}, which has no hasdep")
            wanted.add(target)
        for block in own:
            for step, following in itertools.zip_longest(block.steps, block.steps[1:]):
                if step.publishes and step not in wanted:
                    step.publishes = 0
                    merges = following is not None and following.continues(step)
                    step.publishes = 1
                    require(merges, f"{step.where}: has hasdep, and nobody waits for it")
                if following is not None and following.continues(step):
                    require(following.count == step.count, f"{following.where}: would be merged with another count")
                    require(not following.reads_target(), f"{following.where}: would be merged with what it reads")

    def connect(self, blocks):
        ends = collections.defaultdict(lambda: ([], []))
        for block in blocks:
            if block.send >= 0:
                ends[block.rank, block.send, block.channel][0].append(block)
            if block.recv >= 0:
                ends[block.recv, block.rank, block.channel][1].append(block)
        for key, (senders, receivers) in ends.items():
            require(len(senders) == len(receivers) == 1, f"connection {key}: {len(senders)} senders, {len(receivers)} receivers")
            sent = [step.count for step in senders[0].steps if step.type in SENDS]
            received = [step.count for step in receivers[0].steps if step.type in RECEIVES]
            require(sent == received, f"connection {key}: sends {sent}, receives {received}")
        return list(ends)

    def shapes(self):
        """Returns the number of slots in a rank's input and output."""
        total, part = self.chunks, self.chunks // self.ranks
        if self.collective == "allgather":
            return part, total
        return (total, part) if self.collective in ("reducescatter", "reduce_scatter") else (total, total)

    def wanted(self, rank, index):
        """Returns the input slots (rank, index) that the collective promises in output slot `index` of the rank."""
        part = self.chunks // self.ranks
        if self.collective == "allreduce":
            return [(other, index) for other in range(self.ranks)]
        if self.collective == "allgather":
            return [(index // part, index % part)]
        if self.collective == "alltoall":
            return [(index // part, rank * part + index % part)]
        return [(other, rank * part + index) for other in range(self.ranks)]


class Command:
    """A unit of execution: a step, or several merged `re` steps, with the waits of the `nop` steps before."""

    def __init__(self, step, waits):
        self.step, self.waits, self.sources, self.last = step, waits, [step.srcoff], step

    def merge(self, step):
        self.sources.append(step.srcoff)
        self.last = step


def commands_of(block):
    result, waits, previous = [], [], None
    for step in block.steps:
        if step.waits():
            waits.append((step.block, step.step))
        if step.type == "nop":
            continue
        if step.continues(previous) and len(result[-1].sources) < MOST_SOURCES:
            result[-1].merge(step)
        else:
            result.append(Command(step, waits))
            waits = []
        previous = step
    return result


class Machine:
    """A run of a file."""

    def __init__(self, file, in_place, seed):
        self.file, self.in_place, self.random = file, in_place, random.Random(seed)
        self.most = self.random.choice([1, 1, 1, 2, 3, 71])  # largest number of slots in a message
        self.slots = SLOTS[file.protocol]
        self.fifos = {key: collections.deque() for key in file.connections}
        self.blocks = [(block, commands_of(block)) for own in file.blocks for block in own]
        self.published = [[-1] * len(own) for own in file.blocks]
        self.position = [0] * len(self.blocks)  # index of the current command of each block
        self.done = [0] * len(self.blocks)  # number of slots of that command that are done
        self.local = [i for own in file.blocks for i in range(len(own))]
        self.memory = {}
        inputs = file.shapes()[0]
        for rank in range(file.ranks):
            for index in range(inputs):
                self.memory[self.place(rank, "i", index)] = ((rank, index),)

    def place(self, rank, buffer, index):
        """Returns the canonical name of a slot. In place a slot has two names: one buffer is inside the other."""
        inputs, outputs = self.file.shapes()
        if self.in_place and buffer == "i" and inputs <= outputs:
            return (rank, "o", index + (rank * inputs if inputs < outputs else 0))
        if self.in_place and buffer == "o" and inputs > outputs:
            return (rank, "i", index + rank * outputs)
        return (rank, buffer, index)

    def load(self, step, rank, buffer, index):
        value = self.memory.get(self.place(rank, buffer, index))
        require(value is not None, f"{step.where}: reads {buffer}[{index}], which holds nothing")
        return value

    def advance(self, index):
        """Runs the current command of thread block `index` for one message. Returns False if the command must wait."""
        block, commands = self.blocks[index]
        command = commands[self.position[index]]
        step = command.step
        own = self.published[block.rank]
        if self.done[index] == 0 and any(own[other] < number for other, number in command.waits):
            return False
        source = self.fifos.get((block.recv, block.rank, block.channel))
        target = self.fifos.get((block.rank, block.send, block.channel))
        if (step.type in RECEIVES and not source) or (step.type in SENDS and len(target) == self.slots):
            return False
        self.run_piece(block, command, source, target, self.done[index])
        self.done[index] += self.most
        if self.done[index] >= step.count:
            if command.last.publishes:
                own[self.local[index]] = command.last.number
            self.position[index] += 1
            self.done[index] = 0
        return True

    def run_piece(self, block, command, source, target, begin):
        step = command.step
        count = min(self.most, step.count - begin)
        offsets = range(begin, begin + count)
        received = source.popleft() if step.type in RECEIVES else [()] * count
        require(len(received) == count, f"{step.where}: receives {len(received)} slots, wants {count}")
        values = []
        for data, offset in zip(received, offsets):
            if step.type in READS:
                for src in command.sources:
                    data += self.load(step, block.rank, step.src, src + offset)
            if step.type == "re":
                data += self.load(step, block.rank, step.dst, step.dstoff + offset)
            values.append(tuple(sorted(data)))
        if step.type in WRITES:
            for value, offset in zip(values, offsets):
                self.memory[self.place(block.rank, step.dst, step.dstoff + offset)] = value
        if step.type in SENDS:
            target.append(values)

    def run(self):
        """Runs until every thread block has ended or waits. Returns the places of waiting steps, or an empty string."""
        unfinished = {i for i, (_, commands) in enumerate(self.blocks) if commands}
        take_turns = self.random.choice([self.in_random_order, self.by_priority])
        take_turns(unfinished)
        return ", ".join(self.blocks[i][1][self.position[i]].step.where for i in sorted(unfinished)[:4])

    def turn(self, index, unfinished, pieces):
        """Runs at most `pieces` messages of a thread block. Returns True if it ran any."""
        moved = False
        while pieces != 0 and index in unfinished and self.advance(index):
            moved = True
            pieces -= 1
            if self.position[index] == len(self.blocks[index][1]):
                unfinished.remove(index)
        return moved

    def in_random_order(self, unfinished):
        """Runs random thread blocks for a random number of messages. Whenever a thread block has moved, retries all
        others."""
        ready = sorted(unfinished)
        while ready:
            index = ready.pop(self.random.randrange(len(ready)))
            if self.turn(index, unfinished, self.random.choice([1, 1, 2, 5, 1000])):
                ready = sorted(unfinished)

    def by_priority(self, unfinished):
        """Always runs the first thread block of a row that can run. Sometimes moves a random thread block to the end of
        the row. There it runs as late as possible, which reveals missing waits."""
        row = self.random.sample(sorted(unfinished), len(unfinished))
        while any(self.turn(index, unfinished, 1) for index in row):
            if self.random.random() < 0.02:
                row.append(row.pop(self.random.randrange(len(row))))
            if len(unfinished) < len(row):
                row = [index for index in row if index in unfinished]

    def check(self, wanted):
        inputs, outputs = self.file.shapes()
        for rank, index in itertools.product(range(self.file.ranks), range(outputs)):
            want = wanted(rank, index)
            value = self.memory.get(self.place(rank, "o", index))
            require(want is None or value == tuple(sorted(want)), f"o[{index}] of gpu {rank} holds {value}, not {want}")
        if not self.in_place:
            for rank, index in itertools.product(range(self.file.ranks), range(inputs)):
                require(self.memory[rank, "i", index] == ((rank, index),), f"i[{index}] of gpu {rank} was overwritten")
        require(not any(self.fifos.values()), "messages are left over")


def interpret(path, seeds, expression):
    file = File(path)
    require((file.collective == "custom") == (expression is not None), "--ensures goes with custom collectives")
    # eval is safe here: the expression comes from the command line of the test.
    wanted = eval(f"lambda r, c: {expression}") if expression else file.wanted  # pylint: disable=eval-used
    runs = 0
    for in_place, seed in itertools.product(file.modes, range(seeds)):
        machine = Machine(file, in_place, seed)
        stuck = machine.run()
        require(not stuck, f"deadlock with messages of {machine.most}, seed {seed}: {stuck}")
        machine.check(wanted)
        runs += 1
    return runs


def check_spelling(path):
    """Checks the format that the readers of the runtimes require: one space before each attribute, no space after it,
    and double quotes."""
    line = re.compile(r' *<(/(algo|gpu|tb)|(algo|gpu|tb|step)( [A-Za-z_]+="[^"<>&\t]*")+/?)>\n')
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            require(line.fullmatch(text), f"line {number}: the runtimes' reader would stumble")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--foreign", action="store_true", help="do not check the spelling")
    parser.add_argument("--ensures", help="of a custom collective: a list of input slots (rank, index), or None, for r, c")
    options = parser.parse_args()
    for path in options.files:
        try:
            if not options.foreign:
                check_spelling(path)
            print(f"{path}: {interpret(path, options.seeds, options.ensures)} runs")
        except (Wrong, ElementTree.ParseError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{path}: {error}")


if __name__ == "__main__":
    main()
