# SPDX-License-Identifier: Apache-2.0
"""Checks that the tests of device code notice wrong code.

mutants.py BUILD [BUNDLE...]: makes one change to runtime/kernel or runtime/plan at a time in a copy of the source tree,
and builds device-test and emulate there with the settings of BUILD. Runs device-test, and runs emulate on the bundles.
Prints a table. Fails if there is a change that no test notices.
"""
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import mutant_runner  # pylint: disable=wrong-import-position

# Each mutant has a name, a file, a text that occurs once in the file, and the text's replacement.
MUTANTS = [
    ("no barrier after the data", "kernel/Interpreter.h", "machine.barrier();\n      return true;", "return true;"),
    ("no barrier after messages with flags", "kernel/Interpreter.h", "return !machine.barrierAny(!going);", "return going;"),
    ("no fence", "kernel/Interpreter.h", "machine.fence(due.bits", "if (false) machine.fence(due.bits"),
    ("no fence for returned slots", "kernel/Interpreter.h", "    machine.fence(due.bits", "    if (!(due.bits & slotsDue) || due.bits & arrivalDue) machine.fence(due.bits"),
    ("fences for the whole machine on one GPU", "plan/ProgramImage.cpp", "range.size() == program.ranks() ? Scope::Gpu : Scope::System", "Scope::System"),
    ("publishes that it still runs", "kernel/Interpreter.h", "    noteTime(&BlockTimes::end);\n    publishRunning(0);\n", "    noteTime(&BlockTimes::end);\n"),
    ("one slot too many", "kernel/Interpreter.h", "sent.messages - call.slots : 0", "sent.messages - 1 - call.slots : 0"),
    ("one slot is free without a poll", "kernel/Interpreter.h", "sendable = static_cast<uint32_t>(shared.freed + call.slots - sent.messages);", "sendable = static_cast<uint32_t>(shared.freed + call.slots - sent.messages) + 1;"),
    ("all slots are free after a poll", "kernel/Interpreter.h", "sent.advance(call.slots), --sendable;", "sent.advance(call.slots);"),
    ("no barrier before free slots are read", "kernel/Interpreter.h", "if (machine.barrierAny(!going))\n      return false;\n    if (needsSlot)", "if (!going)\n      return false;\n    if (needsSlot)"),
    ("does not wait for messages", "kernel/Interpreter.h", "{image.in.arrived, received.messages,", "{image.in.arrived, received.messages - 1,"),
    ("waits count this call only", "kernel/Interpreter.h", "(tilesBefore + tile) * wait.stepCount", "tile * wait.stepCount"),
    ("waits for the step before", "kernel/Interpreter.h", "+ wait.step + 1", "+ wait.step"),
    ("slots go on past the last", "kernel/Interpreter.h", "if (++next == slots)", "if (++next > slots)"),
    ("network: a slot is used once", "kernel/Interpreter.h", "(received.messages - 1) / call.slots + 1,", "1,"),
    ("network: puts the next slot", "kernel/Interpreter.h", "{ return next == 0 ? slots - 1 : next - 1; }", "{ return next % slots; }"),
    ("begins at the first slot", "kernel/Interpreter.h", "next = static_cast<uint32_t>(isPower ? messages & (slots - 1) : messages % slots);", "next = 0;"),
    ("begins as if the slots were a power of two", "kernel/Interpreter.h", "const bool isPower = (slots & (slots - 1)) == 0;", "const bool isPower = true;"),
    ("short runs: a pack for each thread is too little", "kernel/Simple.h", "run.bytes <= machine.threads() * sizeof(Pack)", "run.bytes <= 2 * machine.threads() * sizeof(Pack)"),
    ("short runs: of many", "kernel/Interpreter.h", "const bool hasOneRun = step.first.slots == step.image.count;", "const bool hasOneRun = true;"),
    ("short runs: reductions in place are copies", "kernel/Simple.h", "!flags.reduces() && sides.first == sides.store", "sides.first == sides.store"),
    ("short runs: no second target", "kernel/Simple.h", "    if (flags.writes() && flags.sends())\n      machine", "    if (false)\n      machine"),
    ("forgets what was sent", "kernel/Interpreter.h", "*image.out.sent = sent.messages;", ";"),
    ("uses the step cache without a barrier", "kernel/Interpreter.h", "                         run};\n    }\n    machine.barrier();", "                         run};\n    }"),
    ("uses the next tile without a barrier", "kernel/Interpreter.h", "inTile(shared.steps[i].first, part, 0);\n    machine.barrier();", "inTile(shared.steps[i].first, part, 0);"),
    ("returns no slots at the end", "kernel/Interpreter.h", "      returnSlots();\n    }\n    if (!drainNetwork())", "    }\n    if (!drainNetwork())"),
    ("returns slots at the end without a fence", "kernel/Interpreter.h", "      machine.fence(call.peers);\n      returnSlots();", "      returnSlots();"),
    ("batches leave one slot too few", "plan/Geometry.cpp", "slots - needed + 1)", "slots - needed + 2)"),
    ("loads the first steps again", "kernel/Interpreter.h", "image.steps[first + i]", "image.steps[i]"),
    ("batches leave too few slots", "plan/Geometry.cpp", "std::min(slots / 2, slots - needed + 1)", "slots"),
    ("LL: one flag of two", "kernel/LowLatency.h", " | (static_cast<uint32_t>(line.high >> 32) ^ flag)", ""),
    ("LL: waits for the first of several lines", "kernel/LowLatency.h", "differs |=", "if (i == 0) differs |="),
    ("LL: whole words in short slots", "kernel/LowLatency.h", "isWide ? run.bytes", "isWide ? run.nominalBytes"),
    ("LL: whole words anywhere", "kernel/LowLatency.h", "(address(run.source) | address(run.target)) % wordBytes == 0", "true"),
    ("LL: flags of the own length only", "kernel/LowLatency.h", "motion.flags.sends() ? run.nominalBytes : run.bytes", "run.bytes"),
    ("LL: slots are never written as a whole", "kernel/LowLatency.h", "% (uint64_t{1} << 31) >= call.slots", "% (uint64_t{1} << 62) >= call.slots"),
    ("LL128: reads once", "kernel/LL128.h", "      load(machine, motion, from + i * apart, count, pair[i]);\n      if (isFlagLane)", "      if (isFlagLane)"),
    ("LL128: waits for the first line of two", "kernel/LL128.h", ", differs |= pair.second.high ^ motion.message.inNumber", ""),
    ("LL128: both lines or none", "kernel/LL128.h", "own < lines ? lines - own : 0", "own < lines ? 2 : 0"),
    ("LL128: waits for the first of several pairs", "kernel/LL128.h", "differs |= load(", "differs |= i > 0 ? 0 : load("),
    ("LL128: whole packs in short slots", "kernel/LL128.h", "static_cast<uint32_t>(run.bytes / lineDataLL128)", "static_cast<uint32_t>(run.nominalBytes / lineDataLL128)"),
    ("LL128: whole packs anywhere", "kernel/LL128.h", "(address(run.source) | address(run.target)) % sizeof(Pack) == 0;", "true;"),
    ("words are aligned", "kernel/Words.h", "bytes >= sizeof(Pack) && address(at) % sizeof(Pack) == 0)\n    return", "bytes >= sizeof(Pack))\n    return"),
    ("LL128: flags of the own length only", "kernel/LL128.h", "motion.flags.sends() ? run.nominalBytes : run.bytes", "run.bytes"),
    ("packs: the last round has one pack for each thread", "kernel/Simple.h", "(left + width - 1) / width * warpBytes", "warpBytes"),
    ("packs: the last round is a full one", "kernel/Simple.h", "each < left - at ? each : left - at", "each"),
    ("units begin anywhere", "kernel/Simple.h", "(G - address(sides.store) % G) % G", "0"),
    ("no elements after the last unit", "kernel/Simple.h", "part<elementBytes, 1, Reduces, Both>(machine, op, sides, end, bytes);", ";"),
    ("short slots are long", "kernel/TileRuns.h", "left < nominal ? left : nominal,\n          nominal", "nominal,\n          nominal"),
    ("the longer buffer decides", "kernel/TileRuns.h", "run.bytes = run.bytes < bytes ? run.bytes : bytes;", "run.bytes = bytes;"),
    ("slots begin at 32 bits", "kernel/TileRuns.h", "uint64_t begin = inside * slotElements;", "uint64_t begin = static_cast<uint32_t>(inside * slotElements);"),
    ("blocks begin at 32 bits", "kernel/TileRuns.h", "return {block * shape.blockElements + begin,", "return {static_cast<uint32_t>(block * shape.blockElements) + begin,"),
    ("tiles begin at 32 bits", "kernel/TileRuns.h", "const uint64_t begin = tile * call.tileElements,", "const uint64_t begin = static_cast<uint32_t>(tile * call.tileElements),"),
    ("wide units up to 4 GiB", "kernel/Simple.h", "const uint64_t last = end - round + own", "const uint32_t last = static_cast<uint32_t>(end - round + own)"),
    ("direct: every message", "core/Transfers.cpp", "accesses.before(receiver, access.step) || over(access);", "true;"),
    ("direct: a result as short as its copy", "plan/DirectMessages.cpp", " || !endsLikeTarget(program, step, receiver)", ""),
    ("direct: the receiver stores again", "kernel/OpcodeFlags.h", "(bits & ~writing) | arriving", "bits | arriving"),
    ("direct: the receiver forwards its source", "plan/ProgramImage.cpp", "    step.sourceSlot = step.targetSlot;\n", ""),
    ("direct: the receiver forwards from its source buffer", "plan/ProgramImage.cpp", "    step.source = step.target;\n", ""),
    ("direct: into the first slot", "plan/ProgramImage.cpp", "    step.peerSlot = place.slot;\n", ""),
    ("direct: into the wrong buffer", "plan/ProgramImage.cpp", "    step.peerTarget = place.buffer;\n", ""),
    ("direct: scratch counts as output", "plan/DirectMessages.cpp", " || targetOf(program, receiver).buffer != Buffer::Output", ""),
    ("direct: teams are ignored", "plan/DirectMessages.cpp", "teams[from] != teams[to] || ", ""),
    ("direct: one peer too many", "plan/DirectMessages.cpp", "if (peers.size() + 1 == kernel::switchMemory)", "if (peers.size() == kernel::switchMemory)"),
    ("direct: each message has its own peer", "plan/DirectMessages.cpp", "if (known == peers.end()) {", "if (true) {"),
    ("direct: the peer before", "plan/DirectMessages.cpp", "known - peers.begin() + 1", "known - peers.begin()"),
    ("direct: into the own buffer", "kernel/TileRuns.h", "locate(step.peer, step.peerTarget", "locate(rank, step.peerTarget"),
    ("direct: into the first tile", "kernel/TileRuns.h", "run.atPeer ? run.atPeer + part.begin : nullptr", "run.atPeer"),
    ("direct: packs anywhere", "kernel/Simple.h", "address(run.target) | address(run.atPeer) |", "address(run.target) |"),
    ("counters: never stops", "kernel/Wait.h", "if (polls % pollsPerStopCheck == 0 && machine.loadStopWord(stop) != 0)", "if (!stop)"),
    ("LL: never stops", "kernel/LowLatency.h", "if (polls++ % pollsPerStopCheck == 0 && machine.loadStopWord(motion.stop) != 0)", "if (false)"),
    ("LL128: never stops", "kernel/LL128.h", "if (polls % pollsPerStopCheck == 0 && !machine.warpAll(machine.loadStopWord(motion.stop) == 0))", "if (false)"),
    ("runs pass the ends of blocks", "kernel/TileRuns.h", "run.slots = run.slots < place.slots ? run.slots : place.slots;", ""),
]



def commands_on(bundles):
    """Returns a function from a build folder to the commands that must notice a mutant."""
    return lambda build: [
        ("device-test", [os.path.join(build, "test/device/device-test"), "--gtest_fail_fast"], 900),
        ("emulate", [os.path.join(build, "test/device/emulate"), "--seeds", "40", *bundles], 900),
    ]


def main():
    parser = mutant_runner.parser(__doc__)
    parser.add_argument("bundles", nargs="*", help="bundles that emulate runs")
    options = parser.parse_args()
    bundles = [os.path.abspath(path) for path in options.bundles]
    listed = [(what, "runtime/" + name, old, new) for what, name, old, new in MUTANTS]
    return mutant_runner.main(options, listed, ["device-test", "emulate"], commands_on(bundles))


if __name__ == "__main__":
    sys.exit(main())
