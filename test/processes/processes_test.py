#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs gc3-run in 2, 4 and 8 processes, and checks the data of every example. The launchers are gc3-run --processes,
mpirun if it is installed, and this script, which sets the variables of torchrun, Slurm and others. Ends, stops and
delays processes, and checks that all others end with an error that names the process."""
import argparse
import json
import os
import pathlib
import select
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from launch import environment, free_port, torchrun

TIMEOUT_S = 120  # of a whole run: a machine under load is slow


WRONG_ALLGATHER = """
gc3-ir wrong implements allgather ranks 2 protocol Simple subdivision 1 slots 8
buffers input[1] output[2][1]
ensures for r in 0..2, c in 0..2: output(r, c) == input(c, 0)
rank 0: input 1 output 2
  tb 0 channel 0 recv 1
    0: copy input[0] -> output[0]
    1: recv -> output[1]
  tb 1 channel 0 send 1
    0: send input[0]
rank 1: input 1 output 2
  tb 0 channel 0 recv 0
    0: copy input[0] -> output[1]
    1: recv -> output[1]
  tb 1 channel 0 send 0
    0: send input[0]
"""


def slurm(rank, ranks, port):
    return {"SLURM_PROCID": rank, "SLURM_NTASKS": ranks, "SLURM_LOCALID": rank, "SLURM_NODEID": 0,
            "SLURM_STEP_TASKS_PER_NODE": ranks, "SLURM_STEP_NODELIST": "localhost", "SLURM_JOB_ID": port,
            "SLURM_STEP_ID": 0}


def mpich(rank, ranks, port):
    return {"PMI_RANK": rank, "PMI_SIZE": ranks, "MPI_LOCALRANKID": rank, "MPI_LOCALNRANKS": ranks,
            "GC3_ROOT": f"localhost:{port}"}


def by_hand(rank, ranks, port):
    return {"GC3_RANK": rank, "GC3_RANKS": ranks, "GC3_ROOT": f"localhost:{port}"}


class Launched:
    """Processes that this script starts, one for each rank."""

    def __init__(self, scheme, ranks, arguments, variables=(), arguments_of=None):
        port = free_port()
        self.processes = []
        for rank in range(ranks):
            own = {name: str(value) for name, value in scheme(rank, ranks, port).items()}
            command = [TOOLS.gc3_run, *(arguments_of(rank) if arguments_of else arguments)]
            self.processes.append(subprocess.Popen(command, env=environment(own | dict(variables)), text=True,
                                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE))

    def wait(self):
        """Returns the statuses, the standard outputs and the errors of all ranks."""
        outputs = [process.communicate(timeout=TIMEOUT_S) for process in self.processes]
        return ([process.returncode for process in self.processes], [out for out, _ in outputs],
                [error for _, error in outputs])


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.ring = cls.compile("ring_allreduce", "ring.gc3b")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def compile(cls, example, name, *options):
        path = os.path.join(cls.folder.name, name)
        subprocess.run([TOOLS.gc3c, os.path.join(TOOLS.examples, example + ".gc3"), "-o", path, *options], check=True)
        return path

    def run_tool(self, *arguments, launcher=()):
        return subprocess.run([*launcher, TOOLS.gc3_run, *arguments], env=environment(), text=True,
                              capture_output=True, timeout=TIMEOUT_S)

    def check_table(self, output, rows):
        self.assertEqual(output.count("# Out of bounds values : 0 OK"), 1, output)
        self.assertEqual(sum(line.startswith("  ") for line in output.splitlines()), rows, output)

    def test_every_example(self):
        for example in sorted(pathlib.Path(TOOLS.examples).glob("*.gc3")):
            bundle = self.compile(example.stem, example.stem + ".gc3b")
            for count in (2, 4, 8):
                with self.subTest(example=example.stem, processes=count):
                    done = self.run_tool(bundle, "--processes", str(count), "--program", "all", "--count", "0,1,1000",
                                         "-n", "0")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.check_table(done.stdout, 3)

    def test_adversarial_order(self):
        done = self.run_tool(self.ring, "--processes", "4", "--order", "adversarial", "--seed", "7", "--count", "1,999",
                             "-n", "0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_table(done.stdout, 2)

    def test_launchers(self):
        for scheme in (torchrun, slurm, mpich, by_hand):
            for ranks in (2, 4, 8):
                with self.subTest(scheme=scheme.__name__, ranks=ranks):
                    statuses, outputs, errors = Launched(scheme, ranks, [self.ring, "--count", "1,999", "-n", "2"]).wait()
                    self.assertEqual((statuses, errors), ([0] * ranks, [""] * ranks))
                    self.assertEqual(outputs[1:], [""] * (ranks - 1))
                    self.assertIn(f"# processes {ranks}\n", outputs[0])
                    self.check_table(outputs[0], 2)

    @unittest.skipUnless(shutil.which("mpirun"), "SKIPPED: mpirun is not installed (Debian: openmpi-bin)")
    def test_mpirun(self):
        for ranks in (2, 4, 8):
            with self.subTest(ranks=ranks):
                launcher = ["mpirun", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "--oversubscribe",
                            "--bind-to", "none", "-n", str(ranks)]
                done = self.run_tool(self.ring, "--count", "1,999", "-n", "2", launcher=launcher)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"# processes {ranks}\n", done.stdout)
                self.check_table(done.stdout, 2)

    def test_wrong_elements(self):
        """Rank 1 of 2 receives into the wrong chunk: only its outputs are wrong, and all processes know it."""
        program = os.path.join(self.folder.name, "wrong.gc3-ir")
        with open(program, "w") as file:
            file.write(WRONG_ALLGATHER)
        bundle = os.path.join(self.folder.name, "wrong.gc3b")
        subprocess.run([TOOLS.gc3c, program, "--from=gc3-ir", "--verify=off", "-o", bundle], check=True)
        arguments = [bundle, "--allow-unproven", "1", "--count", "10", "-n", "0", "--inplace", "0"]
        statuses, outputs, errors = Launched(torchrun, 2, arguments).wait()
        self.assertEqual(statuses, [1, 1])
        self.assertIn("# Out of bounds values : 20 FAILED", outputs[0])
        self.assertTrue(errors[0].startswith("gc3-run: rank 1: wrong, out of place: rank 1 chunk 0 element "), errors[0])
        self.assertEqual(errors[1], "")

    def test_other_command_lines(self):
        done = Launched(torchrun, 2, [], arguments_of=lambda rank: [self.ring, "-n", str(rank), "--count", "9"])
        statuses, _, errors = done.wait()
        self.assertEqual(statuses, [1, 1])
        self.assertEqual(errors, [f"gc3-run: rank 1: runs '{self.ring} -n 1 --count 9 without a trace', but rank 0 runs "
                                  f"'{self.ring} -n 0 --count 9 without a trace'\n", ""])

    def test_a_process_without_its_bundle(self):
        paths = [self.ring, os.path.join(self.folder.name, "none", os.path.basename(self.ring))]
        folders = [os.path.dirname(path) for path in paths]
        os.makedirs(folders[1], exist_ok=True)
        port = free_port()
        processes = [subprocess.Popen([TOOLS.gc3_run, "ring.gc3b", "--count", "9"], cwd=folders[rank], text=True,
                                      env=environment({k: str(v) for k, v in torchrun(rank, 2, port).items()}),
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(2)]
        errors = [process.communicate(timeout=TIMEOUT_S)[1] for process in processes]
        self.assertEqual([process.returncode for process in processes], [1, 1])
        self.assertEqual(errors[0], "gc3-run: ring.gc3b: process 1 (ranks 4 to 7): can't open 'ring.gc3b': No such file or "
                                    "directory\n")
        self.assertEqual(errors[1], "")

    def merge_traces(self, name, ranks, processes):
        """Returns the events of the files of all processes, as docs/tuning.md merges them."""
        events, per_process = [], ranks // processes
        for first in range(0, ranks, per_process):
            with open(os.path.join(self.folder.name, f"{name}.{first}.json")) as file:
                own = json.load(file)["traceEvents"]
            self.assertEqual({event["pid"] for event in own}, set(range(first, first + per_process)))
            events += own
        return events

    def test_traces_can_be_merged(self):
        ranks, processes, clock_error_us = 8, 4, 1000
        done = self.run_tool(self.ring, "--processes", str(processes), "--trace", os.path.join(self.folder.name, "t.json"),
                             "--count", "1000", "-n", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        events = self.merge_traces("t", ranks, processes)
        names = [(event["pid"], event["args"]["name"]) for event in events if event["name"] == "process_name"]
        self.assertEqual(sorted(names), [(rank, f"rank {rank}") for rank in range(ranks)])
        calls = {}
        for event in events:
            if event["name"] == "ring_allreduce":
                calls.setdefault(event["args"]["call"], {})[event["pid"]] = (event["ts"], event["ts"] + event["dur"])
            if "send" in event.get("args", {}):
                self.assertEqual(event["args"]["send"], (event["pid"] + 1) % ranks)
        self.assertGreater(len(calls), 2)
        for number, times in calls.items():
            self.assertEqual(sorted(times), list(range(ranks)), number)
            self.assertLess(max(begin for begin, _ in times.values()),
                            min(end for _, end in times.values()) + clock_error_us, number)
        tails, heads = ([event["id"] for event in events if event["ph"] == phase] for phase in "sf")
        self.assertEqual(sorted(tails), sorted(heads))
        self.assertEqual(len(set(tails)), len(tails))

    def test_a_process_that_never_starts(self):
        launched = Launched(lambda rank, _, port: torchrun(rank, 3, port), 2, [self.ring, "--count", "9"],
                            {"GC3_TIMEOUT_MS": "500"})
        statuses, _, errors = launched.wait()
        self.assertEqual(statuses, [1, 1])
        for error in errors:
            self.assertIn("rank 2", error)

    def begin_calls(self, count, timeout_ms=60000):
        """Starts a run that does not end by itself. Returns its parent process, and the ids of its processes by rank,
        when all ranks make calls."""
        parent = subprocess.Popen([TOOLS.gc3_run, self.ring, "--processes", str(count), "--count", "1000", "-c", "0",
                                   "-n", "2000000000", "-w", "0"], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE,
                                  env=environment({"GC3_DEBUG": "INFO", "GC3_TIMEOUT_MS": str(timeout_ms)}))
        while "ring_allreduce" not in parent.stderr.readline():
            self.assertIsNone(parent.poll())
        children = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        return parent, [int(child) for child in children]

    def finish(self, parent, children):
        """Waits for the end of a run. Returns its status and its errors. Checks that nothing remains."""
        _, text = parent.communicate(timeout=TIMEOUT_S)
        for child in children:
            self.assertFalse(os.path.exists(f"/proc/{child}"))
        lines = re.split("\n(?=gc3)", text.rstrip("\n"))  # an error can have several
        return parent.returncode, [line for line in lines if line.startswith("gc3-run: ")]

    def test_a_killed_process(self):
        for rank in (0, 1, 3):
            with self.subTest(rank=rank):
                parent, children = self.begin_calls(4)
                begin = time.monotonic()
                os.kill(children[rank], signal.SIGKILL)
                status, errors = self.finish(parent, children)
                self.assertLess(time.monotonic() - begin, 60)
                self.assertEqual(status, 128 + signal.SIGKILL)
                self.assertIn(f"gc3-run: rank {rank} (process {children[rank]}) was killed by signal 9",
                              errors)
                others = [error for error in errors if f"process {children[rank]} on host " in error]
                self.assertEqual(len(others), 3, errors)

    def test_a_stopped_process(self):
        parent, children = self.begin_calls(2, timeout_ms=1000)
        os.kill(children[1], signal.SIGSTOP)
        status, errors = self.finish(parent, children)
        self.assertEqual(status, 128 + signal.SIGKILL)  # the parent ends the stopped process
        self.assertIn(f"process {children[1]} on host ", "".join(errors))
        self.assertIn(f"gc3-run: rank 1 (process {children[1]}, stopped) has not ended within 5 s; it is killed", errors)

    def test_a_terminated_parent(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            parent, children = self.begin_calls(2)
            parent.send_signal(number)
            self.assertEqual(self.finish(parent, children), (128 + number, []))

    def test_a_killed_parent(self):
        parent, children = self.begin_calls(2)
        descriptors = [os.pidfd_open(child) for child in children]
        parent.kill()
        parent.communicate(timeout=TIMEOUT_S)
        for descriptor in descriptors:
            ended, _, _ = select.select([descriptor], [], [], TIMEOUT_S)
            self.assertEqual(ended, [descriptor])
            os.close(descriptor)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--gc3c", required=True)
parser.add_argument("--gc3-run", required=True)
parser.add_argument("--examples", required=True)
TOOLS, rest = parser.parse_known_args()
unittest.main(argv=[sys.argv[0], *rest])
