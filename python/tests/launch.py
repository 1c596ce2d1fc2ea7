# SPDX-License-Identifier: Apache-2.0
"""Starts a script in several processes, as a launcher does."""

import os
import subprocess
import sys
import textwrap
import uuid


def start(count, script, *, environment=None):
    """Starts a script in `count` processes with the variables of gc3's own launcher and of torchrun."""
    job = uuid.uuid4().hex
    processes = []
    for rank in range(count):
        variables = {"GC3_RANK": rank, "GC3_RANKS": count, "GC3_LOCAL_RANK": rank, "GC3_LOCAL_RANKS": count,
                     "GC3_JOB": job, "RANK": rank, "WORLD_SIZE": count, "OMP_NUM_THREADS": 1, **(environment or {})}
        texts = {name: str(value) for name, value in variables.items()}
        processes.append(subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], env={**os.environ, **texts},
                                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    return processes


def finish(processes):
    """Waits for the processes. Returns their outputs, and their exit statuses."""
    try:
        outputs = [process.communicate(timeout=120)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    return outputs, [process.returncode for process in processes]


def run(count, script, **options):
    """Runs a script in `count` processes, which must succeed. Returns their outputs."""
    outputs, statuses = finish(start(count, script, **options))
    assert statuses == [0] * count, "\n".join(outputs)
    return outputs
