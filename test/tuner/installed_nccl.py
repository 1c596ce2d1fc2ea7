# SPDX-License-Identifier: Apache-2.0
"""Checks that an installed NCCL opens the plugin, and passes it a communicator. NCCL needs a GPU for this.

installed_nccl.py NCCL PLUGIN WORK   makes a communicator of one rank, and reads NCCL's log. WORK is a folder.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

EXPECTED = [
    r"TUNER/Plugin: Using (tuner plugin )?gc3",
    r"gc3: .*/table has 0 rows for this communicator \(ranks: 1, nodes: 1\); digest [0-9a-f]{16}",
    r"PROFILER/Plugin: Loaded gc3",
]


def create_communicator(path):
    """Creates and destroys a communicator. Returns NCCL's result."""
    nccl = ctypes.CDLL(path)
    handle = ctypes.c_void_p()
    result = nccl.ncclCommInitAll(ctypes.byref(handle), 1, None)
    return result or nccl.ncclCommDestroy(handle)


def main(nccl, plugin, work):
    work = pathlib.Path(work)
    times, table, log = work / "times", work / "table", work / "log"
    times.mkdir(parents=True, exist_ok=True)
    table.write_text("gc3-nccl-table 1\nallreduce 2 1 10 ring ll - 1\n", encoding="utf-8")
    log.unlink(missing_ok=True)
    variables = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "ALL", "NCCL_DEBUG_FILE": log, "NCCL_TUNER_PLUGIN": plugin,
                 "NCCL_PROFILER_PLUGIN": plugin, "GC3_TUNER_TABLE": table, "GC3_TUNER_TIMES": times}
    child = subprocess.run([sys.executable, __file__, nccl], env=os.environ | {k: str(v) for k, v in variables.items()})
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    if child.returncode != 0 and not re.search("(TUNER|PROFILER)/Plugin", text):
        sys.exit(f"skipped: ncclCommInitAll fails before NCCL opens plugins (result {child.returncode}); is there a GPU?")
    missing = [pattern for pattern in EXPECTED if not re.search(pattern, text)]
    if child.returncode != 0 or missing:
        sys.exit(f"{text}\nresult {child.returncode}; NCCL's log lacks {missing}")


if len(sys.argv) == 2:
    sys.exit(create_communicator(sys.argv[1]))
main(*sys.argv[1:])
