# SPDX-License-Identifier: Apache-2.0
"""first_hour_test.py FOLDER [--update]: runs first_hour.sh --run with fake programs, and compares the page with expected.md.

The fakes print recorded and invented output. One hangs, one crashes, one reports a wrong result, and one is missing.
Also runs --prepare with a fake build, a part alone, and one that a hangup ends.
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # write no .pyc files into the source tree
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MINUTES = "5"  # the fakes need a few seconds; the rest is for a machine with much other work

BENCH = r"""while [ $# -gt 0 ]; do case $1 in --section) section=$2 ;; --json) json=$2 ;; esac; shift; done
case $section in protocols) exit 3 ;; alltoall | nccl) echo "FAILED: $section: out of memory"; exit 1 ;; esac
cat "INPUTS/$section.lines" >>"$json" """
# The page that exists while a later part runs is kept, to compare what an interrupted run leaves.
TOTALS = "echo '1 bundles, 1 programs, 90 calls; 0 programs have more thread blocks than fit; 0 bundles failed'"
FAKES = {
    "bin/gpu-sweep": r"""case $* in *wrong*) echo "FAILED: wrong.gc3b: its result differs from the expected one"; exit 1 ;; esac
echo '6 programs, 144 cases right; 0 cases have more thread blocks than fit; 0 bundles failed'""",
    "bin/gpu-test": f'[ -e "FOLDER/early.md" ] || cp "FOLDER/results/first-hour.md" "FOLDER/early.md"\n{TOTALS}',
    "bin/gpu-nccl-test": "true",  # gpu-window-test and the interposer are missing
    "bin/gpu-bench": BENCH,
    "bin/gpu-primitives": 'cat "INPUTS/primitives.lines" >>"$2"',
    "bin/gpu-loops": "echo measuring; echo $$ >FOLDER/loops.pid; exec sleep 100",
    # The program that hangs has a short limit, unless the test waits for something else.
    "path/timeout": f"""case $* in --foreground*gpu-loops*) [ -n "${{LONG-}}" ] || {{ shift 3; set -- --foreground 1 "$@"; }} ;; esac
exec {shutil.which('timeout')} "$@" """,
    "path/nvidia-smi": r"""case $1 in
-q) echo '    CUDA Version                          : 13.0' ;;
*) for gpu in 0 1; do echo 'NVIDIA H100 80GB HBM3, 580.1, 9.0, 81559 MiB, 345 MHz, 1980 MHz, 2619 MHz, 700.00 W, 33'; done ;;
esac""",
    "path/compute-sanitizer": f'[ "$2" != racecheck ] || exit 1\n{TOTALS}',
    "path/all_reduce_perf": 'cat "INPUTS/perf.txt"; case ${LD_PRELOAD-} in *gc3*) echo "gc3: a call: allreduce" ;; esac',
}


def write_fakes(folder, fakes):
    for name, text in fakes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text.replace("INPUTS", str(HERE / "Inputs")).replace("FOLDER", str(folder)) + "\n")
        path.chmod(0o755)


def make_folder(folder):
    """Makes a folder like that of first_hour.sh --prepare, with fakes."""
    shutil.rmtree(folder, ignore_errors=True)
    write_fakes(folder, FAKES)
    bundles = {"sweep": ["wrong"] + [f"right-{i}" for i in range(7)], "test": [f"ring_allreduce.Simple.{i}" for i in (2, 3, 4)],
               "test/nccl": ["nccl.2"], "bench": ["steps_1"]}
    for place, names in bundles.items():
        (folder / "bundles" / place).mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / "bundles" / place / f"{name}.gc3b").write_text("fake")
    shutil.copytree(ROOT / "bench/gpu/first_hour", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ["bench/gpu/run.sh", "test/gpu/bundles.py", "test/gpu/loopback.py", "test/gpu/nccl.py"]:
        shutil.copy(ROOT / name, folder / "scripts")
    shutil.copy(ROOT / "bench/gpu/first_hour.sh", folder)
    (folder / "version").write_text("v1 2026-11-26\n")


def without_times(text, folder):
    """Replaces what differs between runs: times, the date, the system and folders."""
    text = text.replace(str(folder), "FOLDER").replace(str(HERE), "HERE")
    before, parts, after = re.split(r"(## Parts.*?(?=## Measurements|\Z))", text, flags=re.S)
    parts = re.sub(r"(?<=\| )\d+\.\d(?= \|)", "N", parts)
    parts = re.sub(r"\b\d+\.\d s, FAILED", "N s, FAILED", parts)
    parts = re.sub(r"after \d+(\.\d)? s", "after N s", re.sub(r"in \d+ s\b", "in N s", parts))
    return re.sub(r"(?m)^(\| (date|system) \|).*", r"\1 ... |", before) + parts + after


def load_report(folder):
    spec = importlib.util.spec_from_file_location("report", folder / "scripts" / "report.py")
    report = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(report)
    return report


def check_json(folder):
    """The JSON has all that the page has: the page can be made from it."""
    report = load_report(folder)
    result = json.loads((folder / "results" / "first-hour.json").read_text(encoding="utf-8"))
    page = report.page(result["machine"], result["parts"], result["rows"], result["not begun"])
    assert page == (folder / "results" / "first-hour.md").read_text(encoding="utf-8"), "the page differs from the JSON"
    assert [each["verdict"] for each in result["estimates"]] == [each["verdict"] for each in report.judged(result["rows"], result["parts"])]


def check_early_page(folder):
    early = (folder / "early.md").read_text(encoding="utf-8")
    assert "**Incomplete:** not begun: test, sanitizer, micro, bench, gpus." in early, early
    assert "1 bundles failed" not in early and "6 bundles passed, 2 bundles failed" in early, early


def first_hour(script, *arguments, environment=None, folder=None):
    return subprocess.run(["bash", script, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=False)


def check_one_part(folder, environment):
    """A part alone does not replace the results of all parts."""
    before = (folder / "results" / "first-hour.md").read_text(encoding="utf-8")
    run = first_hour(folder / "first_hour.sh", "--run", folder, "--only", "machine", environment=environment)
    assert run.returncode == 0 and (folder / "results-machine" / "first-hour.md").exists(), run.stdout + run.stderr
    assert (folder / "results" / "first-hour.md").read_text(encoding="utf-8") == before


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def running(process):
    """Returns whether a process exists and has not ended. One that has ended may still have a number, but no command."""
    try:
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except OSError:
        return False


def check_hangup(folder, environment):
    """A hangup ends the script and the program that it runs."""
    note = folder / "loops.pid"
    note.unlink()
    with subprocess.Popen(["bash", folder / "first_hour.sh", "--run", folder, "--only", "micro"], env=dict(environment, LONG="1"),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        wait_for(lambda: note.exists() and note.read_text().endswith("\n"), "gpu-loops has not begun")
        process = note.read_text().strip()
        # A process has no command for a moment while it executes another program.
        wait_for(lambda: running(process), "gpu-loops does not run")
        run.send_signal(signal.SIGHUP)
        assert run.wait(timeout=60) == 128 + signal.SIGHUP, run.returncode
    wait_for(lambda: not running(process), "gpu-loops still runs")


BUILD_FAKES = {
    "path/ninja": 'echo "$*" >>"FOLDER/ninja.log"; case $* in *query*) exit 1 ;; esac',
    "path/strip": "",
    "source/bench/gpu/bundles.sh": "",
    "source/build/release/build.ninja": "",
    "source/build/release/bench/gpu/gpu-bench": "",
    "source/build/release/CMakeFiles/4.0/CMakeCUDACompiler.cmake": "",
    "source/test/gpu/make_sweep.py": "",
    "source/test/gpu/make_bundles.py": "import os, sys; sys.exit('INTERRUPT' in os.environ)",
    "source/out/bin/other": "",
}


def check_prepare(folder, environment):
    """--prepare makes the folder that its caller names, also after an interruption. Wrong options build nothing."""
    write_fakes(folder, BUILD_FAKES)
    source = folder / "source"
    for name in ["bench/gpu/first_hour.sh", "bench/gpu/run.sh", "scripts/common.sh", "test/gpu/bundles.py", "test/gpu/loopback.py",
                 "test/gpu/nccl.py"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(ROOT / "bench/gpu/first_hour", source / "bench/gpu/first_hour", ignore=shutil.ignore_patterns("__pycache__"))
    script, caller = source / "bench/gpu/first_hour.sh", folder / "caller"
    caller.mkdir()

    run = first_hour(script, "--help", environment=environment)
    assert run.returncode == 0 and "--prepare FOLDER" in run.stdout and "--minutes" in run.stdout, run.stdout + run.stderr
    run = first_hour(script, "--only", "swep", environment=environment)
    assert run.returncode == 2 and "there is no part 'swep'" in run.stderr, run.stdout + run.stderr
    assert not (folder / "ninja.log").exists() and not (source / "build/first-hour").exists()

    build = ["--build", "../source/build/release"]
    run = first_hour(script, "--prepare", "out", *build, environment=dict(environment, INTERRUPT="1"), folder=caller)
    assert run.returncode == 1 and "first-hour-test failed" in run.stderr, run.stdout + run.stderr
    run = first_hour(script, "--run", "out", environment=environment, folder=caller)
    assert run.returncode == 2 and "is not complete" in run.stderr, run.stdout + run.stderr
    run = first_hour(script, "--prepare", "out", environment=environment, folder=caller)
    assert run.returncode == 0, run.stdout + run.stderr
    assert all((caller / "out" / name).exists() for name in ("bin/gpu-bench", "scripts/run.py", "first_hour.sh", "version"))
    assert os.listdir(source / "out") == ["bin"] and os.listdir(source / "out/bin") == ["other"]
    run = first_hour(script, "--prepare", source, environment=environment)
    assert run.returncode == 1 and "has other files" in run.stderr, run.stdout + run.stderr


def check_report(folder):
    """Rows with fewer or other columns do not end the run, and an estimate may have one limit only."""
    report = load_report(folder)
    rows = [{"table": "blocks"}, {"table": "blocks", "blocks": "12", "GB/s": 5000.0}, {"table": "blocks", "blocks": "8"},
            {"table": "steps"}, {"table": "latency", "call": None, "in a row µs": "none"}]
    verdicts = {each["id"]: each["verdict"] for each in report.judged(rows, [])}
    assert verdicts["twelve-blocks"] == "confirmed" and verdicts["eight-blocks"] == "not measured", verdicts
    assert "| 12 | 5,000 |" in report.page({}, [], rows, [])


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    make_folder(folder)
    environment = dict(os.environ, PATH=f"{folder}/path:{os.environ['PATH']}", GC3_NCCL_LIB="/fake/lib/libnccl.so.2")
    environment.pop("NCCL_TESTS", None)
    run = first_hour(ROOT / "bench/gpu/first_hour.sh", "--run", folder, "--minutes", MINUTES, environment=environment)
    assert run.returncode == 1, run.stdout + run.stderr
    page = without_times((folder / "results" / "first-hour.md").read_text(encoding="utf-8"), folder)
    expected = HERE / "expected.md"
    if "--update" in sys.argv:
        expected.write_text(page, encoding="utf-8")
    check_json(folder)
    check_early_page(folder)
    check_report(folder)
    check_one_part(folder, environment)
    check_hangup(folder, environment)
    check_prepare(folder, environment)
    if page != expected.read_text(encoding="utf-8"):
        sys.exit(f"{page}\n{run.stdout}\nThe page differs from {expected}; --update writes it.")


if __name__ == "__main__":
    main()
