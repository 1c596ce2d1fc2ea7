# SPDX-License-Identifier: Apache-2.0
"""Whether the tests of device code notice when it is wrong.

mutants.py BUILD BUNDLE...: changes one thing of runtime/kernel and runtime/plan at a time in a copy of the source tree, builds device-test
and emulate there with the settings of BUILD, and runs both, the latter on the bundles. Prints a table; fails if a change
goes unnoticed.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What is changed, and where: file, text, its replacement.
MUTANTS = [
    ("no barrier behind the data", "kernel/Interpreter.h", "machine.barrier();\n    if (shared.stoppedMoving", "if (shared.stoppedMoving"),
    ("no fence", "kernel/Interpreter.h", "machine.fence(tellsArrival", "if (false) machine.fence(tellsArrival"),
    ("no fence for slots that are given back", "kernel/Interpreter.h", "    machine.fence(tellsArrival", "    if (!flags.receives || flags.sends) machine.fence(tellsArrival"),
    ("fences for the whole machine on one GPU", "plan/ProgramImage.cpp", "range.size() == program.ranks() ? Scope::Gpu : Scope::System", "Scope::System"),
    ("runs for ever, as it says", "kernel/Interpreter.h", "      end();\n    noteRunning(0);\n", "      end();\n"),
    ("one slot too many", "kernel/Interpreter.h", "sent.messages + 1 - call.slots : 0", "sent.messages - call.slots : 0"),
    ("does not wait for messages", "kernel/Interpreter.h", "{in.arrived, received.messages + 1,", "{in.arrived, received.messages,"),
    ("waits count this call only", "kernel/Interpreter.h", "(tilesBefore + tile) * wait.stepCount", "tile * wait.stepCount"),
    ("waits for the step before", "kernel/Interpreter.h", "+ wait.step + 1", "+ wait.step"),
    ("slots go on past the last", "kernel/Interpreter.h", "if (++next == slots)", "if (++next > slots)"),
    ("network: a slot is used once", "kernel/Interpreter.h", "next = 0, ++laps;", "next = 0;"),
    ("network: puts the next slot", "kernel/Interpreter.h", "{ return next == 0 ? slots - 1 : next - 1; }", "{ return next % slots; }"),
    ("begins at the first slot", "kernel/Interpreter.h", "next = static_cast<uint32_t>(before - laps * slots);", "next = 0;"),
    ("forgets what was sent", "kernel/Interpreter.h", "*rank.sends[block.outgoing].sent = sent.messages;", ";"),
    ("changes windows without a barrier", "kernel/Interpreter.h", "machine.barrier(); // nobody is in a step of the last window", ""),
    ("uses windows without a barrier", "kernel/Interpreter.h", "rank.steps[firstStep + i];\n    machine.barrier();", "rank.steps[firstStep + i];"),
    ("LL: one flag of two", "kernel/LowLatency.h", " && static_cast<uint32_t>(pack.high >> 32) == flag", ""),
    ("LL: flags of the own length only", "kernel/LowLatency.h", "sends ? run.nominalBytes : run.bytes", "run.bytes"),
    ("LL: slots are never written as a whole", "kernel/LowLatency.h", "% (uint64_t{1} << 31) >= call.slots", "% (uint64_t{1} << 62) >= call.slots"),
    ("LL128: reads once", "kernel/LL128.h", "    load(machine, at, there, pair);\n    if (looks)", "    if (looks)"),
    ("LL128: waits for the first line of two", "kernel/LL128.h", "(there < 2 || pair.second.high == motion.message.inNumber)", "true"),
    ("LL128: both lines or none", "kernel/LL128.h", "line + 1 < lines ? 2 : line < lines", "line < lines ? 2 : 0"),
    ("words are aligned", "kernel/Words.h", "bytes >= sizeof(Pack) && address(at) % sizeof(Pack) == 0)\n    return", "bytes >= sizeof(Pack))\n    return"),
    ("LL128: flags of the own length only", "kernel/LL128.h", "sends ? run.nominalBytes : run.bytes", "run.bytes"),
    ("units begin anywhere", "kernel/Simple.h", "(G - address(sides.store) % G) % G", "0"),
    ("no elements behind the last unit", "kernel/Simple.h", "part<elementBytes, 1, Reduces, Both>(machine, op, sides, head + body, bytes);", ";"),
    ("short slots are long", "kernel/TileRuns.h", "elements = elements < left ? elements : left;", ""),
    ("slots begin at 32 bits", "kernel/TileRuns.h", "uint64_t begin = inside * slotElements;", "uint64_t begin = static_cast<uint32_t>(inside * slotElements);"),
    ("blocks begin at 32 bits", "kernel/TileRuns.h", "return {block * shape.blockElements + begin,", "return {static_cast<uint32_t>(block * shape.blockElements) + begin,"),
    ("tiles begin at 32 bits", "kernel/TileRuns.h", "const uint64_t begin = tile * call.tileElements;", "const uint64_t begin = static_cast<uint32_t>(tile * call.tileElements);"),
    ("wide units up to 4 GiB", "kernel/Simple.h", "const uint64_t body = (bytes - head) / G * G;", "const uint64_t body = static_cast<uint32_t>((bytes - head) / G * G);"),
    ("shared memory is as it was", "kernel/Interpreter.h", "      shared.stoppedWaiting = shared.stoppedMoving[0] = shared.stoppedMoving[1] = 0;\n", ""),
    ("counters: never stops", "kernel/Wait.h", "if (polls % pollsPerLook == 0 && machine.look(stop) != 0)", "if (!stop)"),
    ("LL: never stops", "kernel/LowLatency.h", "if (polls % pollsPerLook == 0 && machine.look(motion.stop) != 0)", "if (false)"),
    ("LL128: never stops", "kernel/LL128.h", "if (polls % pollsPerLook == 0 && !machine.warpAll(machine.look(motion.stop) == 0))", "if (false)"),
    ("runs pass the ends of blocks", "kernel/TileRuns.h", "slots = slots < place.slots ? slots : place.slots;", ""),
]


def fails(*words, **rest):
    """Whether a command fails, or does not end."""
    try:
        return subprocess.run(words, capture_output=True, check=False, timeout=900, **rest).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def build_and_test(source, build, bundles):
    """What noticed, or nothing."""
    if fails("cmake", "--build", build, "--target", "device-test", "emulate", cwd=source):
        return "compiler"
    if fails(os.path.join(build, "test/device/device-test")):
        return "device-test"
    if fails(os.path.join(build, "test/device/emulate"), "--seeds", "40", *bundles):
        return "emulate"
    return None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bundles = [os.path.abspath(path) for path in sys.argv[2:]]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, build = os.path.join(folder, "source"), os.path.join(folder, "build")
        shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".git"))
        with open(os.path.join(sys.argv[1], "CMakeCache.txt"), encoding="utf-8") as cache:
            settings = [f"-D{line.strip()}" for line in cache if line.startswith(("CMAKE_BUILD_TYPE", "CMAKE_CXX_"))]
        subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DGC3_COMPILER=OFF", *settings],
                       check=True, stdout=subprocess.DEVNULL)
        if noticed := build_and_test(source, build, bundles):
            sys.exit(f"{noticed} fails where nothing is changed")
        print("| change | noticed by |\n| --- | --- |", flush=True)
        for what, name, old, new in MUTANTS:
            path = os.path.join(source, "runtime", name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.count(old) != 1:
                sys.exit(f"{name} has not once: {old}")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            noticed = build_and_test(source, build, bundles)
            missed += noticed is None
            print(f"| {what} | {noticed or '**nothing**'} |", flush=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
