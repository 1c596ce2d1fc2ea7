# SPDX-License-Identifier: Apache-2.0
"""Runs torch_checks.py in several processes, without pytest: on machines with another PyTorch, and for test_torch.py.

torch_job.py RANKS [CHECK…]: prints the results and a summary. Exits with 1 if a check fails. With the variables of a
launcher, it is one rank of the job, and writes lines of JSON to the file descriptor RESULTS. With LOCAL_WORLD_SIZE,
ranks are on nodes of this size.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import traceback

FOLDER = pathlib.Path(__file__).resolve().parent


def free_port():
    """Returns the number of a port that no process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(ranks, checks=()):
    """Starts the ranks of a job. Returns the processes."""
    path = f"{FOLDER.parent}:{os.environ.get('PYTHONPATH', '')}"
    environment = dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS="1",
                       WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    environment.setdefault("USE_LIBUV", "0")  # the PyTorch of Debian 13 has no libuv
    environment.setdefault("LOCAL_WORLD_SIZE", str(ranks if ranks < 4 else ranks // 2))
    return [_start_rank(dict(environment, RANK=str(rank)), [str(ranks), *checks]) for rank in range(ranks)]


def _start_rank(environment, arguments):
    """Starts a rank, which writes its results to a file: gloo writes to the standard output."""
    results = tempfile.TemporaryFile("w+", encoding="utf-8")
    process = subprocess.Popen([sys.executable, "-W", "ignore", __file__, *arguments], stdout=subprocess.DEVNULL,
                               env=dict(environment, RESULTS=str(results.fileno())), pass_fds=[results.fileno()])
    process.results = results
    return process


def finish(processes, timeout=300):
    """Waits for the ranks. Returns the results as lists of (rank, check, result); the result of a success is ``""``."""
    results = []
    try:
        for rank, process in enumerate(processes):
            process.wait(timeout)
            process.results.seek(0)
            results += [(rank, *json.loads(line)) for line in process.results]
            if process.returncode != 0:
                results.append((rank, "end", f"failed: exit status {process.returncode}"))
    finally:
        for process in processes:
            process.kill()
    return results


def run_rank(names):
    """Runs checks on this rank, and writes their results."""
    import torch
    import torch.distributed as dist
    import torch_checks

    torch.set_num_threads(1)
    dist.init_process_group("gc3", timeout=torch_checks.TIMEOUT)
    job = torch_checks.Job()
    for name, check in list(vars(torch_checks).items()):
        if not name.startswith("check_") or (names and name not in names):
            continue
        try:
            check(job)
            result = ""
        except torch_checks.Skipped as reason:
            result = f"skipped: {reason}"
        except Exception:
            result = "failed: " + traceback.format_exc()
        os.write(int(os.environ["RESULTS"]), (json.dumps([name, result]) + "\n").encode())
        if result.startswith("failed"):
            os._exit(1)  # the other ranks may have made other calls
    dist.barrier()
    dist.destroy_process_group()


def main():
    ranks, names = int(sys.argv[1]), sys.argv[2:]
    if "RANK" in os.environ:
        run_rank(names)
        return 0
    results = finish(start(ranks, names))
    for rank, name, result in results:
        if rank == 0 or result.startswith("failed"):
            print(f"rank {rank}: {name}: {result or 'passed'}")
    failed, skipped = (sum(result.startswith(kind) for _, _, result in results) for kind in ("failed", "skipped"))
    print(f"{len(results) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
