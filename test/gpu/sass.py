#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the machine code of kernels: functions, basic blocks, and loops. Input: a cubin, and the path of nvdisasm."""
import heapq
import itertools
import re
import struct
import subprocess
import tempfile
from functools import cached_property

BRANCH = re.compile(r"(BRA|BRX|JMP|JMX)\b")
END = re.compile(r"(EXIT|RET|KILL)\b")
LABEL = re.compile(r"\.L_x_\d+")


class Instruction:
    """One instruction: its guard ("@P0", or empty), its opcode with suffixes, and the text of its operands."""

    def __init__(self, text):
        self.guard, self.opcode, self.operands = re.match(r"(@!?U?P\w+\s+)?(\S+)\s*(.*)", text).groups()
        self.is_branch = bool(BRANCH.match(self.opcode))
        self.is_conditional = bool(self.guard) or self.is_branch and bool(re.match(r"[~!]*(UP|UR|P)", self.operands))
        self.ends_block = self.is_branch or bool(END.match(self.opcode))

    @property
    def targets(self):
        """The labels that follow, except those of a jump that is only for warps whose lanes have diverged."""
        return LABEL.findall(self.operands) if self.is_branch and not self.opcode.startswith("BRA.DIV") else []

    @property
    def falls(self):
        """Whether the next instruction can follow."""
        return not self.ends_block or self.is_conditional

    @property
    def bits(self):
        """The width of a memory access."""
        suffix = re.search(r"\.(128|64|U8|S8|U16|S16)\b", self.opcode)
        return int(suffix.group(1).lstrip("US")) if suffix else 32

    @property
    def is_strong(self):
        return ".STRONG." in self.opcode

    @property
    def base(self):
        """The register with the address of a memory access."""
        return re.search(r"\[(R\w+)", self.operands).group(1)

    def accesses(self, opcode, bits=None, strong=None):
        return self.opcode.startswith(opcode) and bits in (None, self.bits) and strong in (None, self.is_strong)


class Function:
    """The control flow of a function: `blocks` is a list of lists of instructions, `successors` and `predecessors` have
    lists of block numbers."""

    def __init__(self, name, text):
        self.name = name
        labels, instructions = {}, []
        for line in text.splitlines():
            if label := re.match(r"(\.L_x_\d+):", line):
                labels[label.group(1)] = len(instructions)
            elif instruction := re.match(r"\s+/\*[0-9a-f]+\*/\s+\{?\s*(.*?)\s*;", line):
                instructions.append(Instruction(instruction.group(1)))
        starts = {0} | set(labels.values()) | {i + 1 for i, each in enumerate(instructions) if each.ends_block}
        starts = sorted(i for i in starts if i < len(instructions))
        number = {start: i for i, start in enumerate(starts)}
        self.blocks = [instructions[begin:end] for begin, end in zip(starts, starts[1:] + [len(instructions)])]
        self.successors = []
        for i, block in enumerate(self.blocks):
            after = [number[labels[target]] for target in block[-1].targets if labels.get(target) in number]
            if block[-1].falls and i + 1 < len(self.blocks):
                after.append(i + 1)
            self.successors.append(sorted(set(after)))
        self.predecessors = [[] for _ in self.blocks]
        for i, after in enumerate(self.successors):
            for j in after:
                self.predecessors[j].append(i)

    @cached_property
    def order(self):
        """Reachable blocks in reverse postorder."""
        seen, order, stack = {0}, [], [(0, iter(self.successors[0]))]
        while stack:
            block, rest = stack[-1]
            following = next((j for j in rest if j not in seen), None)
            if following is None:
                order.append(block)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(self.successors[following])))
        return order[::-1]

    @cached_property
    def dominators(self):
        """The immediate dominator of each reachable block (Cooper, Harvey and Kennedy)."""
        position = {block: i for i, block in enumerate(self.order)}
        parent, changed = {0: 0}, True
        while changed:
            changed = False
            for block in self.order[1:]:
                known = [i for i in self.predecessors[block] if i in parent]
                best = known[0]
                for other in known[1:]:
                    while best != other:
                        if position[best] > position[other]:
                            best = parent[best]
                        else:
                            other = parent[other]
                changed |= parent.get(block) != best
                parent[block] = best
        return parent

    def dominates(self, above, below):
        while below not in (0, above):
            below = self.dominators[below]
        return below == above

    @cached_property
    def loops(self):
        """Natural loops, as a dictionary from header to the set of blocks, inner loops first."""
        loops = {}
        for tail in self.order:
            for header in self.successors[tail]:
                if self.dominates(header, tail):
                    body = loops.setdefault(header, {header})
                    stack = [tail]
                    while stack:
                        if (block := stack.pop()) not in body:
                            body.add(block)
                            stack += [i for i in self.predecessors[block] if i in self.dominators]
        return dict(sorted(loops.items(), key=lambda each: len(each[1])))

    def inner(self, header):
        """Headers of the loops within a loop."""
        body = self.loops[header]
        return [other for other in self.loops if other != header and other in body]

    def longest_pass(self, header, avoid=lambda instruction: False):
        """The instructions of the pass through a loop, from its header to a jump back, with the most accesses of global
        memory. Among these passes, it is the longest that enters the fewest loops, such as loops that poll. It ends each
        of these as soon as it can. It has no instruction to avoid, if there is such a pass. Complexity: blocks of the loop
        times the length of the pass."""
        body = self.loops[header]
        inside = self.inner(header)
        outermost = [h for h in inside if not any(h in self.loops[o] and o != h for o in inside)]
        owner = {block: h for h in outermost for block in self.loops[h]}

        def rank(each):
            path, accesses, entered = each
            return not any(map(avoid, path)), accesses, -entered, len(path)
        best, whole = {header: ([], 0, 0)}, []
        for block in self.order:
            if block not in best or owner.get(block, block) != block:
                continue
            path, accesses, entered = best[block]
            if block not in owner:
                accesses += sum(each.opcode.startswith(("LDG", "STG")) for each in self.blocks[block])
            for part, after in self._leave(block) if block in owner else [(self.blocks[block], self.successors[block])]:
                reached = path + part, accesses, entered + (block in owner)
                if header in after:
                    whole.append(reached)
                for following in body.intersection(after) - {header}:
                    best[following] = max(best.get(following, reached), reached, key=rank)
        return max(whole, key=rank, default=([],))[0]

    def _leave(self, header):
        """The shortest paths from a loop's header out of the loop: pairs of instructions and of blocks after the loop."""
        body = self.loops[header]
        best, queue = {header: self.blocks[header]}, [header]
        while queue:
            block = min(queue, key=lambda i: len(best[i]))
            queue.remove(block)
            for following in self.successors[block]:
                if following in body and following != header:
                    path = best[block] + self.blocks[following]
                    if following not in best or len(path) < len(best[following]):
                        best[following] = path
                        queue.append(following)
        return [(path, [i for i in self.successors[block] if i not in body]) for block, path in best.items()]

    def shortest_pass(self, header, events, avoid):
        """The instructions of the shortest pass through a loop that has all events in this order, and no instruction to
        avoid. An event is a predicate of an instruction and of the previous event's instruction. Complexity: blocks of the
        loop times events."""
        def walk(block, seen, last):
            for instruction in self.blocks[block]:
                if seen < len(events) and events[seen](instruction, last):
                    seen, last = seen + 1, instruction
            return seen, last
        order = itertools.count()
        queue, done = [(0, next(order), header, 0, None, [])], set()
        while queue:
            length, _, block, seen, last, path = heapq.heappop(queue)
            if block == header and path and seen == len(events):
                return [instruction for each in path for instruction in self.blocks[each]]
            if (block, seen) in done or block == header and path or any(map(avoid, self.blocks[block])):
                continue
            done.add((block, seen))
            seen, last = walk(block, seen, last)
            for following in self.loops[header].intersection(self.successors[block]):
                heapq.heappush(queue, (length + len(self.blocks[block]), next(order), following, seen, last, path + [block]))
        return []


def with_old_header(cubin):
    """The bytes of a cubin with the ELF header that CUDA 12 and earlier wrote. The disassembler of an older toolkit reads
    the code of architectures that it knows, but refuses the header that CUDA 13 writes: another OS ABI, its version, and
    the place of the architecture in e_flags."""
    image = bytearray(cubin)
    architecture = struct.unpack_from("<I", image, 48)[0] >> 8 & 0xff
    image[7], image[8] = 0x33, 7
    struct.pack_into("<I", image, 48, architecture | 0x500 | architecture << 16)
    return bytes(image)


def disassemble(nvdisasm, cubin):
    """The text of all functions of a cubin."""
    run = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return run.stdout
    with open(cubin, "rb") as file, tempfile.NamedTemporaryFile(suffix=".cubin") as copy:
        copy.write(with_old_header(file.read()))
        copy.flush()
        return subprocess.run([nvdisasm, "-c", copy.name], capture_output=True, text=True, check=True).stdout


def functions(nvdisasm, cubin):
    text = disassemble(nvdisasm, cubin)
    parts = re.split(r"^\s*\.section\s+\.text\.([^,\s]+),.*$", text, flags=re.M)
    return [Function(name, body) for name, body in zip(parts[1::2], parts[2::2])]
