# SPDX-License-Identifier: Apache-2.0
"""The parts of the first hour. Each part is a function that runs commands until its deadline and returns their Steps."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sys
import time

from commands import STATUSES, Step

PROCESSES = 4  # with more processes at once, CUDA starts far more slowly
BUNDLES_EACH = 6  # bundles of a process, as most of its time is CUDA's start
SECONDS_EACH = 100  # limit of such a process
LARGEST = str(64 << 20)  # bytes of a rank's buffer in benchmarks
COLLECTIVES = {"all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reduce_scatter", "alltoall": "alltoall"}


class Context:
    """The folders, the commands and the GPUs of a run, and the deadline of the current part."""

    def __init__(self, folder, results, commands):
        self.folder, self.results, self.commands = folder, results, commands
        self.bin, self.bundles, self.scripts = folder / "bin", folder / "bundles", folder / "scripts"
        self.deadline = 0.0
        self.gpus = 0
        self.machine = {}
        self.rows = []

    def left(self):
        return self.deadline - time.monotonic()

    def stop(self):
        """Ends all commands, and begins no further ones."""
        self.deadline = 0.0
        self.commands.end_all()

    def run(self, name, command, environment=None, limit=None):
        """Runs a command until its limit or the part's deadline."""
        left = self.left()
        step = self.commands.run(name, command, min(left, limit or left), environment)
        if step.status == "out of time" and left <= (limit or left):
            step.status, step.note = "unfinished", f"the part's time was over after {step.seconds:.0f} s"
        return step


def installed_nccl():
    """Returns the path of NCCL: GC3_NCCL_LIB, PyTorch's package, or None, which stands for the loader's path."""
    if "GC3_NCCL_LIB" in os.environ:
        return os.environ["GC3_NCCL_LIB"]
    for place in sys.path:
        found = pathlib.Path(place) / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
        if found.exists():
            return str(found)
    return None


def machine(context):
    """Notes the GPU and the versions."""
    fields = ["name", "driver_version", "compute_cap", "memory.total", "clocks.sm", "clocks.max.sm", "clocks.max.mem",
              "power.limit", "temperature.gpu"]
    step = context.run("nvidia-smi", ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"], limit=30)
    if step.status == "passed":
        gpus = [line.split(", ") for line in step.output().strip().splitlines()]
        context.gpus = len(gpus)
        context.machine.update({"GPUs": str(len(gpus)), **dict(zip(fields, gpus[0]))})
    full = context.run("nvidia-smi-q", ["nvidia-smi", "-q"], limit=30)
    version = re.search(r"CUDA Version *: *(\S+)", full.output())
    context.machine["CUDA of the driver"] = version.group(1) if version else "unknown"
    context.machine["NCCL"] = installed_nccl() or "libnccl.so.2 of the loader"
    return [step, full]


def batches(context, name, program, bundles):
    """Runs a program on bundles, several in a process and several processes at once. Begins no process after the
    deadline. Returns the Steps of processes that have not passed, and one Step that sums up."""
    groups = [bundles[i:i + BUNDLES_EACH] for i in range(0, len(bundles), BUNDLES_EACH)]
    if not groups:
        return [Step(name, "missing", "there are no bundles")]
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        try:
            steps = list(pool.map(lambda i: context.run(f"{name}-{i}", [program, *groups[i]], limit=SECONDS_EACH),
                                  range(len(groups))))
        except BaseException:  # an interrupt
            context.stop()
            raise
    counts = {status: sum(len(group) for step, group in zip(steps, groups) if step.status == status) for status in STATUSES}
    worst = next(status for status in STATUSES if counts[status])
    if worst == "unfinished" and counts["passed"]:
        worst = "passed in part"
    note = ", ".join(f"{count} bundles {status}" for status, count in reversed(counts.items()) if count) + totals_of(steps)
    bad = [step for step in steps if step.status in ("failed", "missing", "out of time")]
    return bad[:10] + [Step(name, worst, note, max(step.seconds for step in steps))]


def totals_of(steps):
    """Returns the sums of what gpu-test and gpu-sweep count: calls or cases, and those that the GPU cannot hold."""
    text = ""
    for pattern in [r"(\d+) (calls|cases right)", r"(\d+) (\w+ have more thread blocks than fit)"]:
        found = [match for step in steps for match in re.findall(pattern, step.output())]
        if found:
            text += f"; {sum(int(count) for count, _ in found)} {found[0][1]}"
    return text


def smallest_first(folder):
    return sorted(folder.glob("*.gc3b"), key=lambda path: (path.stat().st_size, path.name))


def sweep(context):
    """Compares the results of all types with the expected ones."""
    return batches(context, "gpu-sweep", context.bin / "gpu-sweep", smallest_first(context.bundles / "sweep"))


def session(context, name, command, limit):
    """Runs a script of test/gpu, which itself begins no bundle after its budget. Its last lines are the verdict."""
    limit = min(limit, context.left())
    step = context.run(name, [sys.executable, "-B", *command, "--budget", f"{max(1, limit - 2):.0f}", "--timeout",
                              f"{max(1, limit - 1):.0f}"], nccl_environment(), limit)
    summary = re.search(r"^\d+ right, (\d+) FAILED.*$", step.output(), re.M)
    if summary and step.status in ("passed", "failed"):
        rest = re.search(r"^NOT RUN: \d+", step.output(), re.M)
        right = not summary.group(0).startswith("0 right")
        step.status = "failed" if summary.group(1) != "0" or not right else "passed in part" if rest else "passed"
        step.note = summary.group(0) + (f"; {rest.group(0)}" if rest else "")
    if step.status == "skipped":
        step.note = next((line for line in step.output().splitlines() if "SKIPPED" in line), step.note)
    return step


def nccl_environment():
    found = installed_nccl()
    return {"GC3_NCCL_LIB": found} if found else {}


def test_nccl(context, limit):
    """Runs the tests with a real NCCL, on several GPUs if there are several."""
    tools = context.bin
    gin = tools / "libgc3gin.so"
    missing = [name for name in ("gpu-nccl-test", "gpu-window-test", "libgc3nccl.so") if not (tools / name).exists()]
    if missing:
        return Step("test-nccl", "missing", f"{', '.join(missing)} not in {tools}")
    return session(context, "test-nccl",
                   [context.scripts / "nccl.py", "--test", tools / "gpu-nccl-test", "--window-test", tools / "gpu-window-test",
                    "--front", tools / "libgc3nccl.so", *(["--gin", gin] if gin.exists() else []), "--bundles",
                    context.bundles / "test"], limit)


def test(context):
    """Runs test/gpu: a real NCCL first, as it needs a fixed time, then as many bundles as there is time for."""
    steps = [] if context.gpus > 1 else [test_nccl(context, context.left() / 3)]
    return steps + batches(context, "gpu-test", context.bin / "gpu-test", smallest_first(context.bundles / "test"))


def sanitizer(context):
    """Runs a few bundles under each tool of compute-sanitizer."""
    if not shutil.which("compute-sanitizer"):
        return [Step("compute-sanitizer", "skipped", "no compute-sanitizer on the path")]
    tools = ["memcheck", "racecheck", "synccheck"]
    return [session(context, tool, [context.scripts / "loopback.py", "--gpu-test", context.bin / "gpu-test", "--bundles",
                                    context.bundles / "test", "--runs", tool], context.left() / (len(tools) - i))
            for i, tool in enumerate(tools)]


def sections(context, names):
    """Runs bench/gpu/run.sh for one section after the other. A section has a third of the time that is left, because
    run.sh repeats some sections that hang."""
    steps = []
    for name in names:
        out = context.results / name
        shutil.rmtree(out, ignore_errors=True)
        environment = {"SECTIONS": name, "TOOLS": str(context.bin), "BUNDLES": str(context.bundles / "bench"), "OUT": str(out),
                       "SECONDS_EACH": f"{max(0.5, context.left() / 3):.1f}", **nccl_environment()}
        steps.append(context.run(name, ["bash", context.scripts / "run.sh", "--largest", LARGEST, "--samples", "7"], environment))
        context.rows += rows_of(out / "gpu.json")
    return steps


def rows_of(path):
    """Returns the rows of tables in a file that run.sh has written. Notes and failures are in the logs."""
    try:
        return [row for row in json.loads(path.read_text()) if "table" in row]
    except (OSError, ValueError):
        return []


def micro(context):
    """Measures the estimates of steps, calls, hardware and loops."""
    return sections(context, ["primitives", "loops", "steps", "latency"])


def bench(context):
    """Runs the other sections of bench/gpu/run.sh."""
    return sections(context, ["ring", "alltoall", "protocols", "nccl"])


def times_of(output):
    """Returns {bytes: µs out of place} of an nccl-tests table, or None if a result is wrong."""
    times = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) >= 9 and words[0].isdigit() and words[1].isdigit():
            if words[8] not in ("0", "N/A"):
                return None
            times[words[0]] = float(words[5])
    return times


def nccl_table(context, name, ranks):
    """Runs a program of nccl-tests with NCCL, then with gc3's interposer. Adds rows if both have passed."""
    program = shutil.which(f"{name}_perf", path=os.pathsep.join([os.environ.get("NCCL_TESTS", ""), os.environ["PATH"]]))
    if not program:
        return [Step(f"{name}_perf", "skipped", "no nccl-tests on the path or in NCCL_TESTS")]
    command = [program, "-b", "1K", "-e", "64M", "-f", "4", "-c", "1", "-g", ranks]
    found = installed_nccl()
    library = {"LD_LIBRARY_PATH": f"{pathlib.Path(found).parent}:{os.environ.get('LD_LIBRARY_PATH', '')}"} if found else {}
    gc3 = {"LD_PRELOAD": str(context.bin / "libgc3nccl.so"), "GC3_DEBUG": "INFO",
           "GC3_BUNDLES": str(context.bundles / "test" / "nccl" / f"nccl.{ranks}.gc3b")}
    limit = context.left() / 2
    steps = [context.run(f"{name}-nccl", command, library, limit), context.run(f"{name}-gc3", command, {**library, **gc3}, limit)]
    tables = [times_of(step.output()) for step in steps]
    for step, table in zip(steps, tables):
        if step.status == "passed" and not table:
            step.status, step.note = "failed", "wrong results, or no table"
    if all(step.status == "passed" for step in steps):
        if not re.search(rf": {COLLECTIVES[name]}$", steps[1].output(), re.M):
            steps[1].status, steps[1].note = "failed", "no program of gc3 served a call"
        else:
            context.rows += [{"table": f"nccl-tests {name}", "bytes": size, "NCCL µs": tables[0][size], "gc3 µs": tables[1][size],
                              "NCCL / gc3": tables[0][size] / tables[1][size]} for size in tables[0] if size in tables[1]]
    return steps


def gpus(context):
    """Runs a real NCCL on several GPUs."""
    if context.gpus < 2:
        return [Step("several GPUs", "skipped", f"this machine has {context.gpus or 'no known'} GPU")]
    ranks = max(count for count in (2, 4, 8) if count <= context.gpus)
    steps = [test_nccl(context, context.left() / 2)]
    for name in COLLECTIVES:
        steps += nccl_table(context, name, ranks)
    return steps


# The parts, with their shares of the time.
PARTS = [("machine", machine, 1), ("sweep", sweep, 4), ("test", test, 7), ("sanitizer", sanitizer, 4), ("micro", micro, 4),
         ("bench", bench, 6), ("gpus", gpus, 4)]
