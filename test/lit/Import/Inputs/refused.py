# SPDX-License-Identifier: Apache-2.0
"""refused.py FILE: gc3c must reject the MSCCL XML, with at most 600 MiB of memory (sanitizers need a part of it)."""
import resource
import subprocess
import sys

run = subprocess.run(["gc3c", "--import-msccl", sys.argv[1]], stderr=subprocess.PIPE, check=False)
sys.stdout.buffer.write(run.stderr)
if run.returncode != 1:
    sys.exit(f"exit status {run.returncode}")
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if peak > 600:
    sys.exit(f"{peak} MiB of memory")
