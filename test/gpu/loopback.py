#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bundles of all examples and runs them on the GPU: under their protocols, under Simple, and three ten thousand times;
where CUDA's compute-sanitizer is, small ones also under its checks of memory, races and barriers. Exit status 77, loudly,
where there is no GPU."""
import argparse
import pathlib
import shutil
import subprocess
import sys

SANITIZED = ["ring_allreduce", "allpairs_allreduce", "direct_alltoall", "twostep_alltoall"]


def sanitizer_runs(sanitizer, gpu_test, bundles):
    small = [bundle for bundle in bundles if pathlib.Path(bundle).name.split(".")[0] in SANITIZED
             and pathlib.Path(bundle).name.split(".")[2] in ("2", "4", "2x2")]
    return [[sanitizer, "--tool", tool, "--error-exitcode", "1", gpu_test, "--repeats", "2", *small]
            for tool in ("memcheck", "racecheck", "synccheck")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["gc3c", "gpu-test", "examples", "work"]:
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    probe = subprocess.run([arguments.gpu_test, "--probe"], check=False).returncode
    if probe != 0:
        sys.exit(probe)
    maker = pathlib.Path(__file__).with_name("make_bundles.py")
    subprocess.run([sys.executable, str(maker), "--gc3c", arguments.gc3c, "--examples", arguments.examples, "--output",
                    arguments.work], check=True)
    bundles = sorted(map(str, pathlib.Path(arguments.work).glob("*.gc3b")))
    often = [bundle for bundle in bundles if pathlib.Path(bundle).name.startswith("ring_allreduce.") and bundle.endswith(".8.gc3b")]
    runs = [[arguments.gpu_test, *bundles], [arguments.gpu_test, "--simple", *bundles],
            [arguments.gpu_test, "--repeats", "10000", *often]]
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer:
        runs += sanitizer_runs(sanitizer, arguments.gpu_test, bundles)
    else:
        print("SKIPPED: no compute-sanitizer on the path")
    sys.exit(max(subprocess.run(run, check=False).returncode for run in runs))


if __name__ == "__main__":
    main()
