#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bundles of nccl.gc3 for 1 to 8 ranks and runs gpu-nccl-test on them: through gc3CommInit, and through the library in
front of NCCL, of which it then checks that programs served the calls. Exit status 77, loudly, where there is no GPU."""
import argparse
import os
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["gc3c", "test", "front", "work"]:
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(__file__).with_name("nccl.gc3")
    bundles = []
    for ranks in [1, 2, 4, 8]:
        bundles.append(str(work / f"nccl.{ranks}.gc3b"))
        subprocess.run([arguments.gc3c, str(source), f"-DR={ranks}", "-o", bundles[-1]], check=True)
    attached = subprocess.run([arguments.test, *bundles], check=False).returncode
    if attached != 0:
        sys.exit(attached)
    environment = dict(os.environ, GC3_FRONT="1", GC3_DEBUG="INFO", GC3_BUNDLES=":".join(bundles), LD_PRELOAD=arguments.front)
    front = subprocess.run([arguments.test, *bundles], env=environment, check=False, capture_output=True, text=True)
    print(front.stdout, end="")
    if front.returncode != 0:
        sys.exit(front.stderr + f"exit status {front.returncode}")
    if "2 ranks on" in front.stdout and not any(line.endswith(": allreduce") for line in front.stderr.splitlines()):
        sys.exit(front.stderr + "no program served a call of AllReduce")


if __name__ == "__main__":
    main()
