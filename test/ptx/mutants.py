# SPDX-License-Identifier: Apache-2.0
"""Checks that the tests notice wrong PTX.

mutants.py BUILD [BUNDLE...]: makes one change to the PTX of the float kernels at a time, in a folder beside that of BUILD.
Nothing is compiled. Runs ptx-test, emulate on the bundles (if there are any), device-test and comm-test with this PTX, and
first with the unchanged PTX. Prints a table. Fails if a change does not fit the PTX, or if no test notices it, except changes
without an effect.
"""
import concurrent.futures
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # write no .pyc files into the source tree
sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import mutant_runner  # pylint: disable=wrong-import-position

# Each mutant has a name, a kernel, a regular expression, its replacement, and which match in the kernel is replaced.
SIMPLE, LL, LL128, NETWORK = "ProtocolE0", "ProtocolE1", "ProtocolE2", "network"
ANY = r"[^;]*;"  # the operands of an instruction
PAIR = r"\{(%\w+), (%\w+)\}"
# nvcc stores a pack of 16 bytes as two values of 64 bits, or as four of 32 bits.
PACK = r"(?:v2\.[bu]64|v4\.[bfu]32)"
HALVES = r"\{(%\w+(?:, %\w+)?), (%\w+(?:, %\w+)?)\}"
MUTANTS = [
    # Scopes
    ("scope: a poll of a step reaches the system", SIMPLE, r"ld\.acquire\.gpu", "ld.acquire.sys", 0),
    ("scope: LL128: a poll of a step reaches the system", LL128, r"ld\.acquire\.gpu", "ld.acquire.sys", 0),
    ("scope: a poll of a peer reaches the GPU", NETWORK, r"ld\.acquire\.sys", "ld.acquire.gpu", 0),
    ("scope: the mark of a running block reaches the GPU", SIMPLE, r"st\.relaxed\.sys\.global\.u64", "st.relaxed.gpu.global.u64", 0),
    ("scope: the first fence reaches the GPU", SIMPLE, r"fence\.acq_rel\.sys", "fence.acq_rel.gpu", 0),
    ("scope: a fence after a step reaches the system", SIMPLE, r"fence\.acq_rel\.gpu", "fence.acq_rel.sys", 0),
    ("scope: a fence before a put reaches the GPU", NETWORK, r"fence\.acq_rel\.sys", "fence.acq_rel.gpu", 1),
    ("scope: a step is published to the system", SIMPLE, r"st\.relaxed\.gpu", "st.relaxed.sys", 0),
    ("scope: a slot is published to the system", SIMPLE, r"st\.relaxed\.gpu", "st.relaxed.sys", 1),
    ("scope: the stop word within the GPU", SIMPLE, r"ld\.relaxed\.sys\.global\.u32", "ld.relaxed.gpu.global.u32", 0),
    ("scope: LL: a line within the GPU", LL, r"ld\.relaxed\.sys\.global\.v2", "ld.relaxed.gpu.global.v2", 0),
    ("scope: LL: a stored line within the GPU", LL, r"st\.relaxed\.sys\.global\.v2", "st.relaxed.gpu.global.v2", 0),
    ("scope: a poll of another launch reaches the GPU", SIMPLE, r"ld\.acquire\.sys", "ld.acquire.gpu", 0),
    ("scope: a message to another launch reaches the GPU", SIMPLE, r"st\.relaxed\.sys", "st.relaxed.gpu", 1),
    ("scope: LL: a slot of another launch reaches the GPU", LL, r"st\.relaxed\.sys\.global\.u64", "st.relaxed.gpu.global.u64", 2),
    # Fences
    ("fence: none before the mark of a running block", SIMPLE, r"fence\.acq_rel\.sys;", "", 0),
    ("fence: none after a step", SIMPLE, r"fence\.acq_rel\.gpu;", "", 0),
    ("fence: none before the last slots", SIMPLE, r"fence\.acq_rel\.gpu;", "", -1),
    ("fence: none before the last mark", SIMPLE, r"fence\.acq_rel\.sys;", "", -1),
    ("fence: LL: none after a step", LL, r"fence\.acq_rel\.gpu;", "", 0),
    ("fence: LL128: none before the last slots", LL128, r"fence\.acq_rel\.gpu;", "", -1),
    ("fence: none before a put", NETWORK, r"fence\.acq_rel\.sys;", "", 1),
    # Kinds of access
    ("kind: a weak poll", SIMPLE, r"ld\.acquire\.gpu\.global", "ld.global", 0),
    ("kind: a relaxed poll", SIMPLE, r"ld\.acquire\.gpu", "ld.relaxed.gpu", 0),
    ("kind: a volatile poll", SIMPLE, r"ld\.acquire\.gpu", "ld.volatile", 0),
    ("kind: LL: a weak poll", LL, r"ld\.acquire\.gpu\.global", "ld.global", 0),
    ("kind: a weak poll of a peer", NETWORK, r"ld\.acquire\.sys\.global", "ld.global", 0),
    ("kind: a weak poll of another launch", SIMPLE, r"ld\.acquire\.sys\.global", "ld.global", 0),
    ("kind: a step is published weakly", SIMPLE, r"st\.relaxed\.gpu\.global", "st.global", 0),
    ("kind: the mark of a running block is weak", SIMPLE, r"st\.relaxed\.sys\.global", "st.global", 0),
    ("kind: a weak load of the stop word", SIMPLE, r"ld\.relaxed\.sys\.global\.u32", "ld.global.u32", 0),
    ("kind: LL: a weak line", LL, r"ld\.relaxed\.sys\.global\.v2\.b64", "ld.global.v2.b64", 0),
    ("kind: LL: a volatile line", LL, r"ld\.relaxed\.sys\.global\.v2\.b64", "ld.volatile.global.v2.u64", 1),
    ("kind: LL: a line is stored weakly", LL, r"st\.relaxed\.sys\.global\.v2\.b64", "st.global.v2.b64", 0),
    ("kind: LL128: a weak line", LL128, r"ld\.volatile\.global\.v2\.u64", "ld.global.v2.u64", 0),
    ("kind: LL128: a line by elements", LL128, r"ld\.volatile\.global\.v2\.u64", "ld.relaxed.sys.global.v2.b64", 0),
    ("kind: LL128: a line is stored weakly", LL128, r"st\.volatile\.global\.v2\.u64", "st.global.v2.u64", 0),
    # Halves of vectors
    ("halves: a pack is loaded reversed", SIMPLE, r"(ld\.global\.v2\.u64\s+)" + PAIR, r"\1{\3, \2}", 3),
    ("halves: a pack is stored reversed", SIMPLE, r"(st\.global\." + PACK + r"\s+\S+ )" + HALVES, r"\1{\3, \2}", 4),
    ("halves: a pack is stored without its high half", SIMPLE, r"(st\.global\." + PACK + r"\s+\S+ )" + HALVES, r"\1{\2, \2}", 9),
    ("halves: LL: a line is loaded reversed", LL, r"(ld\.relaxed\.sys\.global\.v2\.b64 )" + PAIR, r"\1{\3, \2}", 2),
    ("halves: LL: a line is stored reversed", LL, r"(st\.relaxed\.sys\.global\.v2\.b64 \S+ )" + PAIR, r"\1{\3, \2}", 1),
    ("halves: LL128: a line is loaded reversed", LL128, r"(ld\.volatile\.global\.v2\.u64 )" + PAIR, r"\1{\3, \2}", 2),
    ("halves: LL128: a line is stored reversed", LL128, r"(st\.volatile\.global\.v2\.u64 \S+ )" + PAIR, r"\1{\3, \2}", 0),
    ("halves: LL128: one flag of two", LL128, r"(st\.volatile\.global\.v2\.u64 \S+ )" + PAIR, r"\1{\2, \2}", 1),
    # Predicates
    ("predicate: the threads that do not lead load the block", SIMPLE, r"@(%p\d+) bra", r"@!\1 bra", 0),
    ("predicate: a barrier returns the opposite", SIMPLE, r"setp\.ne\.u32", "setp.eq.u32", 0),
    ("predicate: LL: a barrier returns the opposite", LL, r"setp\.ne\.u32", "setp.eq.u32", 1),
    ("predicate: LL128: one lane is enough", LL128, r"vote\.sync\.all", "vote.sync.any", 0),
    ("predicate: LL128: one lane is enough later", LL128, r"vote\.sync\.all", "vote.sync.any", 2),
    ("predicate: LL128: lanes without a line store one", LL128, r"(bar\.warp\.sync\s+-1;(?:\s+[a-z][^;@]*;)*\s+)@%p\d+ bra[^;]*;", r"\1", 0),
    # Barriers
    ("barrier: none after the block is loaded", SIMPLE, r"bar\.sync" + ANY, "", 0),
    ("barrier: none after the steps are loaded", SIMPLE, r"bar\.sync" + ANY, "", 1),
    ("barrier: none after the steps are aimed", SIMPLE, r"bar\.sync" + ANY, "", 2),
    ("barrier: none after the data", SIMPLE, r"bar\.sync" + ANY, "", 3),
    ("barrier: none after the last step", SIMPLE, r"bar\.sync" + ANY, "", -1),
    ("barrier: none after a wait", SIMPLE, r"bar\.red\.or\.pred\s+(%p\d+), 0, (%p\d+);", r"mov.pred \1, \2;", 0),
    ("barrier: LL: none after the data", LL, r"bar\.red\.or\.pred\s+(%p\d+), 0, (%p\d+);", r"mov.pred \1, \2;", 1),
    ("barrier: LL128: no vote", LL128, r"vote\.sync\.all\.pred\s+(%p\d+), (%p\d+)" + ANY, r"mov.pred \1, \2;", 0),
    ("barrier: LL128: lanes do not converge", LL128, r"bar\.warp\.sync" + ANY, "", 0),
    ("barrier: LL128: lanes do not converge for the second line", LL128, r"bar\.warp\.sync" + ANY, "", 1),
    # Offsets
    ("offset: the second pack is loaded from the first", SIMPLE, r"(ld\.global\.v2\.u64[^;]*)\+512\]", r"\1]", 0),
    ("offset: a pack is stored too far", SIMPLE, r"(st\.global\." + PACK + r"\s+\[%rd\d+)\+512\]", r"\1+528]", 0),
    ("offset: an access is not aligned", SIMPLE, r"(ld\.global\.v2\.u64[^;]*)\+512\]", r"\1+516]", 0),
    ("offset: LL128: the second line of the first", LL128, r"(add\.s64\s+%rd\d+, %rd\d+, )128;(\s+// begin inline asm\s+ld\.volatile)", r"\g<1>0;\2", 0),
    ("offset: LL128: the second line is stored over the first", LL128, r"(add\.s64\s+%rd\d+, %rd\d+, )128;(?=(?:\s+selp[^;]*;)*\s+// begin inline asm\s+st\.volatile)", r"\g<1>0;", 0),
    ("offset: a place in shared memory beyond its end", SIMPLE, r"(shared)\+(\d{4,})\]", r"\1+17\2]", 0),
    ("offset: another field of the arguments", SIMPLE, r"(ld\.param\.u64\s+%rd\d+, \[%rd\d+\+-)96\]", r"\g<1>104]", 1),
    ("offset: a global address for shared memory", SIMPLE, r"ld\.shared\.u64", "ld.global.u64", 0),
    # Arithmetic
    ("arithmetic: the largest is the smallest", SIMPLE, r"max\.f32", "min.f32", 5),
    ("arithmetic: LL: a sum is a difference", LL, r"add\.f32", "sub.f32", 3),
]

# Changes that have no effect, and the reason.
WITHOUT_EFFECT = {
    "predicate: the threads that do not lead load the block": "all of them store the same bytes, before the same barrier",
    "barrier: none after the last step": "the data of each step has ended with a barrier; without steps no thread uses what it has read",
}


def kernels_of(text):
    """Returns the parts of a text of PTX: each begins with `.entry`, except the first."""
    return re.split(r"(?m)^(?=(?:\.visible |\.weak )?\.entry )", text)


def change(text, kernel, pattern, replacement, which):
    """Returns the changed text. Raises ValueError unless the kernel has this match."""
    parts = kernels_of(text)
    at = next((i for i, part in enumerate(parts) if ".entry" in part and (kernel == NETWORK or kernel in part.partition("(")[0])), 0)
    found = list(re.finditer(pattern, parts[at]))
    if not at or not -len(found) <= which < len(found):
        raise ValueError(f"{kernel} has {len(found)} places of {pattern}, but place {which} is to be changed")
    match = found[which]
    parts[at] = parts[at][: match.start()] + match.expand(replacement) + parts[at][match.end() :]
    return "".join(parts)


def read(ptx, mutant):
    """Returns the name of the folder of PTX that a mutant changes, and the text of its file."""
    name = "GC3GinKernelsFloat" if mutant[1] == NETWORK else "GC3KernelsFloat"
    paths = [os.path.join(ptx, name, file) for file in ("Kernels.ptx", "Kernels.compute_90.ptx")]
    with open(paths[0] if os.path.exists(paths[0]) else paths[1], encoding="utf-8") as file:
        return name, file.read()


def write(folder, ptx, mutant):
    """Makes a folder of PTX with one change: links to all files of `ptx`, except one."""
    name, text = read(ptx, mutant)
    for target in os.listdir(ptx):
        if target != name:
            os.symlink(os.path.join(ptx, target), os.path.join(folder, target))
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "Kernels.ptx"), "w", encoding="utf-8") as file:
        file.write(change(text, *mutant[1:]))


def reasons_of_misfits(ptx, mutants):
    """Returns the mutants that do not fit the PTX, by name, with the reasons."""
    reasons = {}
    for mutant in mutants:
        try:
            _, text = read(ptx, mutant)
            if change(text, *mutant[1:]) == text:
                reasons[mutant[0]] = "the change is none"
        except (OSError, ValueError) as reason:
            reasons[mutant[0]] = str(reason)
    return reasons


def outcome_of(options, ptx):
    """Returns the name and outcome of the first test that fails with a folder of PTX, or None."""
    device, own = (os.path.join(options.build, "test", name) for name in ("device", "ptx"))
    tests = [("ptx-test", [os.path.join(own, "ptx-test"), "--gtest_filter=*/float", "--gtest_fail_fast"]),
             ("emulate", [os.path.join(device, "emulate"), "--type", "float", "--seeds", "4", *options.bundles]),
             ("device-test", [os.path.join(device, "device-test"), "--gtest_filter=Device.*", "--gtest_fail_fast"]),
             ("comm-test", [os.path.join(options.build, "test/comm/comm-test"), "--gtest_fail_fast"])]
    for name, words in tests:
        if name == "emulate" and not options.bundles:
            continue
        if noticed := mutant_runner.outcome_of(words, options.seconds, env={**os.environ, "EMULATED_PTX": ptx}):
            return f"{name}: {noticed}"
    return None


def outcome_of_mutant(options, ptx, mutant):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, ptx, mutant)
        return outcome_of(options, folder)


def main():
    parser = mutant_runner.parser(__doc__)
    parser.add_argument("bundles", nargs="*", help="bundles that emulate runs")
    parser.set_defaults(seconds=300)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.bundles = [os.path.abspath(path) for path in options.bundles]
    ptx = os.path.join(options.build, "ptx")
    chosen = [mutant for mutant in MUTANTS if re.search(options.only, mutant[0])]
    if not os.path.isdir(os.path.join(ptx, "GC3GinKernelsFloat")):
        without = [mutant for mutant in chosen if mutant[1] != NETWORK]
        print(f"LEFT OUT: {len(chosen) - len(without)} mutants of the kernels over GIN, which this build does not have", file=sys.stderr)
        chosen = without
    misfits = reasons_of_misfits(ptx, chosen)
    for name, reason in misfits.items():
        print(f"does not fit: {name}: {reason}", file=sys.stderr)
    if options.check:
        return bool(misfits)
    if noticed := outcome_of(options, ptx):
        sys.exit(f"{noticed} without a change")
    print("| change | detected by |\n| --- | --- |", flush=True)
    for name in misfits:
        print(f"| {name} | **does not fit** |", flush=True)
    chosen = [mutant for mutant in chosen if mutant[0] not in misfits]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(outcome_of_mutant, options, ptx, mutant) for mutant in chosen]
        missed = {mutant[0] for mutant, future in zip(chosen, futures) if mutant_runner.report(mutant[0], future)}
    for name in missed & WITHOUT_EFFECT.keys():
        print(f"no effect: {name}: {WITHOUT_EFFECT[name]}")
    return bool(misfits or missed - WITHOUT_EFFECT.keys())


if __name__ == "__main__":
    sys.exit(main())
