# SPDX-License-Identifier: Apache-2.0
"""Tests gc3.torch: runs torch_checks.py in jobs of 2 and 4 ranks, and reports each check."""

import importlib.util
import signal
import textwrap

import pytest
import torch_job
from launch import finish, start

if importlib.util.find_spec("torch") is None:
    pytest.skip("this Python has no PyTorch", allow_module_level=True)

import torch_checks  # noqa: E402  it needs PyTorch

CHECKS = [name for name in vars(torch_checks) if name.startswith("check_")]


@pytest.fixture(scope="session")
def jobs():
    """The results of the checks, by number of ranks. Each job starts when a test needs it."""
    results = {}

    def results_of(ranks):
        if ranks not in results:
            results[ranks] = torch_job.finish(torch_job.start(ranks))
        return results[ranks]

    return results_of


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("check", CHECKS)
def test_check(jobs, ranks, check):
    results = [(rank, result) for rank, name, result in jobs(ranks) if name == check]
    failures = [f"rank {rank}: {result}" for rank, result in results if result.startswith("failed")]
    assert not failures, "\n".join(failures)
    assert [rank for rank, _ in results] == list(range(ranks)), "an earlier check has ended the job"
    if results[0][1]:
        pytest.skip(results[0][1])


@pytest.mark.parametrize("ranks", [2, 4])
def test_job_ends_without_errors(jobs, ranks):
    assert [entry for entry in jobs(ranks) if entry[1] == "end"] == []


GROUP = """
import datetime, os, signal, sys
import torch, torch.distributed as dist
import gc3, gc3.torch
dist.init_process_group("gc3", timeout=datetime.timedelta(seconds=60))
rank = dist.get_rank()
x = torch.ones(4)
dist.all_reduce(x)
"""


def job(ranks, script, first=""):
    """Runs a script on all ranks of a group. `first` runs before all imports."""
    environment = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": torch_job.free_port(), "PYTHONWARNINGS": "ignore"}
    return finish(start(ranks, first + GROUP + textwrap.dedent(script), environment=environment))


def test_killed_process_is_an_error_of_the_others():
    outputs, statuses = job(2, """
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            dist.all_reduce(x)
        except gc3.RemoteError as error:
            print("error:", error)
        try:
            torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
        except Exception as error:
            print("DDP:", type(error).__name__)
        """)
    assert statuses == [0, -signal.SIGKILL]
    assert outputs[0].startswith("error: rank 1") and "DDP: " in outputs[0], outputs[0]


@pytest.mark.parametrize("call", [
    "dist.all_reduce(x, async_op=True)",
    "dist.all_reduce(x.to(torch.complex64), async_op=True)",  # gloo runs it
    "gc3.torch.all_reduce(x, communicator, async_op=True)"], ids=["program", "gloo", "operator"])
def test_process_ends_although_a_call_waits(call):
    """Rank 1 ends with an error, while an asynchronous call of rank 0 waits for it.

    No other thread of rank 0 may run Python's code at the end: it would abort the process when it leaves PyTorch's.
    """
    outputs, statuses = job(2, f"""
        ring = gc3.compile({str(torch_checks.EXAMPLES / "ring_allreduce.gc3")!r}, params={{"R": 2}})
        communicator = gc3.Communicator.from_process_group(None, ring)
        if rank == 1:
            sys.exit("an error of the application")
        work = {call}
        print("has started")
        """, first="""
import atexit, threading
atexit.register(lambda: print("threads at the end:", len(threading.enumerate())))  # runs last
""")
    assert statuses == [0, 1] and outputs[0] == "has started\nthreads at the end: 1\n", outputs


def test_bundles_of_the_environment(tmp_path):
    import gc3
    path = str(tmp_path / "oneshot.gc3b")
    gc3.compile(torch_checks.EXAMPLES / "oneshot_allreduce.gc3", params={"R": 2}).save(path)
    environment = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": torch_job.free_port(), "GC3_BUNDLES": path,
                   "GC3_DEBUG": "INFO", "PYTHONWARNINGS": "ignore"}
    outputs, statuses = finish(start(2, GROUP, environment=environment))
    assert statuses == [0, 0]
    for rank, output in enumerate(outputs):
        assert f"gc3: rank {rank}: allreduce 16 B float sum: program 'oneshot_allreduce'" in output, output


def test_missing_bundle_is_an_error_on_all_ranks():
    environment = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": torch_job.free_port(), "GC3_BUNDLES": "missing.gc3b"}
    outputs, statuses = finish(start(2, GROUP, environment=environment))
    assert statuses == [1, 1]
    for output in outputs:
        assert "missing.gc3b" in output.splitlines()[-1], output


def test_wiring_of_irregular_groups():
    from gc3.torch import _standard
    assert _standard.wiring([0, 1, 4, 5], 4) == (2, 2)
    assert _standard.wiring([0, 1, 2, 4], 4) == (1, 4)
    assert _standard.wiring([1], 1) == (1, 1)
