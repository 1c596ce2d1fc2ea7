# SPDX-License-Identifier: Apache-2.0
"""first_hour_test.py FOLDER [--update]: runs first_hour.sh --run with fake programs, and compares the page with expected.md.

The fakes print recorded and invented output. One hangs, one crashes, one reports a wrong result, and one is missing.
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # write no .pyc files into the source tree
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MINUTES = "0.25"

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
    "bin/gpu-loops": "echo measuring; sleep 100",
    "path/nvidia-smi": r"""case $1 in
-q) echo '    CUDA Version                          : 13.0' ;;
*) for gpu in 0 1; do echo 'NVIDIA H100 80GB HBM3, 580.1, 9.0, 81559 MiB, 345 MHz, 1980 MHz, 2619 MHz, 700.00 W, 33'; done ;;
esac""",
    "path/compute-sanitizer": f'[ "$2" != racecheck ] || exit 1\n{TOTALS}',
    "path/all_reduce_perf": 'cat "INPUTS/perf.txt"; case ${LD_PRELOAD-} in *gc3*) echo "gc3: a call: allreduce" ;; esac',
}


def make_folder(folder):
    """Makes a folder like that of first_hour.sh --prepare, with fakes."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in FAKES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text.replace("INPUTS", str(HERE / "Inputs")).replace("FOLDER", str(folder)) + "\n")
        path.chmod(0o755)
    bundles = {"sweep": ["wrong"] + [f"right-{i}" for i in range(7)], "test": [f"ring_allreduce.Simple.{i}" for i in (2, 3, 4)],
               "test/nccl": ["nccl.2"], "bench": ["steps_1"]}
    for place, names in bundles.items():
        (folder / "bundles" / place).mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / "bundles" / place / f"{name}.gc3b").write_text("fake")
    shutil.copytree(ROOT / "bench/gpu/first_hour", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ["bench/gpu/run.sh", "test/gpu/bundles.py", "test/gpu/loopback.py", "test/gpu/nccl.py"]:
        shutil.copy(ROOT / name, folder / "scripts")
    (folder / "version").write_text("v1 2026-11-26\n")


def without_times(text, folder):
    """Replaces what differs between runs: times, the date, the system and folders."""
    text = text.replace(str(folder), "FOLDER").replace(str(HERE), "HERE")
    before, parts, after = re.split(r"(## Parts.*?(?=## Measurements|\Z))", text, flags=re.S)
    parts = re.sub(r"(?<=\| )\d+\.\d(?= \|)", "N", parts)
    parts = re.sub(r"\b\d+\.\d s, FAILED", "N s, FAILED", parts)
    parts = re.sub(r"after \d+(\.\d)? s", "after N s", re.sub(r"in \d+ s\b", "in N s", parts))
    return re.sub(r"(?m)^(\| (date|system) \|).*", r"\1 ... |", before) + parts + after


def check_json(folder):
    """The JSON has all that the page has: the page can be made from it."""
    spec = importlib.util.spec_from_file_location("report", folder / "scripts" / "report.py")
    report = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(report)
    result = json.loads((folder / "results" / "first-hour.json").read_text(encoding="utf-8"))
    page = report.page(result["machine"], result["parts"], result["rows"], result["not begun"])
    assert page == (folder / "results" / "first-hour.md").read_text(encoding="utf-8"), "the page differs from the JSON"
    assert [each["verdict"] for each in result["estimates"]] == [each["verdict"] for each in report.judged(result["rows"], result["parts"])]


def check_early_page(folder):
    early = (folder / "early.md").read_text(encoding="utf-8")
    assert "**Incomplete:** not begun: test, sanitizer, micro, bench, gpus." in early, early
    assert "1 bundles failed" not in early and "6 bundles passed, 2 bundles failed" in early, early


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    make_folder(folder)
    environment = dict(os.environ, PATH=f"{folder}/path:{os.environ['PATH']}", GC3_NCCL_LIB="/fake/lib/libnccl.so.2")
    environment.pop("NCCL_TESTS", None)
    run = subprocess.run(["bash", ROOT / "bench/gpu/first_hour.sh", "--run", folder, "--minutes", MINUTES], env=environment,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    page = without_times((folder / "results" / "first-hour.md").read_text(encoding="utf-8"), folder)
    expected = HERE / "expected.md"
    if "--update" in sys.argv:
        expected.write_text(page, encoding="utf-8")
    check_json(folder)
    check_early_page(folder)
    if page != expected.read_text(encoding="utf-8"):
        sys.exit(f"{page}\n{run.stdout}\nThe page differs from {expected}; --update writes it.")


if __name__ == "__main__":
    main()
