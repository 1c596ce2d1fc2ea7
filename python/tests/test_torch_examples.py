# SPDX-License-Identifier: Apache-2.0
"""Runs the PyTorch examples of examples/python under torchrun, on the CPU."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
import torch_job
from conftest import ROOT
from launch import finish, start

if importlib.util.find_spec("torch") is None:
    pytest.skip("this Python has no PyTorch", allow_module_level=True)

FOLDER = ROOT / "examples" / "python"
EXAMPLES = {
    "tensor_parallel_decode": r"\d ranks decode 12 words as the whole model does: \[.*\]",
    "custom_collective": r"\d parts of the sequence have the loss of the whole: \d+\.\d+",
    "moe": r"\d experts learn: the loss falls from \d\.\d+ to 0\.\d+",
}


def test_all_examples_are_listed():
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_under_torchrun(name, tmp_path):
    # With Python 3.11, the torchrun of PyTorch 1.13 starts no processes unless their output is redirected.
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port",
               str(torch_job.free_port()), "--redirects", "1", "--tee", "1", "--log_dir", str(tmp_path),
               str(FOLDER / f"{name}.py")]
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=str(ROOT / "python"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(EXAMPLES[name], done.stdout), done.stdout + done.stderr


def test_experts_on_two_nodes():
    script = f"import runpy; runpy.run_path({str(FOLDER / 'moe.py')!r}, run_name='__main__')"
    environment = {"LOCAL_WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": torch_job.free_port()}
    outputs, statuses = finish(start(4, script, environment=environment))
    assert statuses == [0] * 4, outputs
    assert re.search(EXAMPLES["moe"], outputs[0]), outputs
