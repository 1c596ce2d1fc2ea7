# SPDX-License-Identifier: Apache-2.0
"""Runs commands with time limits. A command's output goes to a log, so that a hang or crash loses nothing."""
import os
import pathlib
import re
import signal
import subprocess
import time

SKIPPED = 77
STATUSES = ["failed", "missing", "out of time", "unfinished", "passed in part", "passed", "skipped"]  # worst first
TAIL = 15  # lines of a log that the page shows if a command has not passed
GRACE = 5  # seconds from SIGTERM to SIGKILL


class Step:
    """A command that has run: its name, status, note, seconds and log.

    The status is one of STATUSES. "out of time": the command has exceeded its own limit. "unfinished": the time of its
    part was over."""

    def __init__(self, name, status, note="", seconds=0.0, log=None):
        self.name, self.status, self.note, self.seconds, self.log = name, status, note, seconds, log

    def output(self):
        return self.log.read_text(errors="replace") if self.log else ""

    def as_json(self):
        shows = self.status in ("failed", "out of time", "unfinished")
        return {"name": self.name, "status": self.status, "note": self.note, "seconds": round(self.seconds, 1),
                "log": self.log.name if self.log else None, "tail": self.output().splitlines()[-TAIL:] if shows else []}


def end_group(process):
    """Ends all processes of the command's group. Waits a few seconds, so that they can write their results."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=GRACE)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


class Commands:
    """Runs commands of one folder of results."""

    def __init__(self, logs):
        self.logs = pathlib.Path(logs)
        self.logs.mkdir(parents=True, exist_ok=True)
        self.running = set()

    def end_all(self):
        for process in list(self.running):
            end_group(process)

    def run(self, name, command, limit, environment=None):
        """Runs a command for at most `limit` seconds, and returns its Step. The note is the output's last line."""
        log = self.logs / (re.sub(r"[^A-Za-z0-9.-]+", "-", name) + ".log")
        if limit <= 0:
            return Step(name, "unfinished", "no time was left to begin it")
        begin = time.monotonic()
        with open(log, "wb") as output:
            try:
                process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=subprocess.STDOUT, start_new_session=True,
                                           env=dict(os.environ, **(environment or {})))
            except OSError as error:
                return Step(name, "missing", f"{command[0]}: {error.strerror}", 0.0, log)
            self.running.add(process)
            try:
                code = process.wait(timeout=limit)
            except BaseException as stopped:
                end_group(process)
                if not isinstance(stopped, subprocess.TimeoutExpired):
                    raise
                return Step(name, "out of time", f"it had not ended after {limit:.0f} s", time.monotonic() - begin, log)
            finally:
                self.running.discard(process)
        end_group(process)  # what it has left
        return self.ended(Step(name, "", "", time.monotonic() - begin, log), code)

    @staticmethod
    def ended(step, code):
        lines = step.output().strip().splitlines()
        step.note = lines[-1].strip() if lines else ""
        step.status = {0: "passed", SKIPPED: "skipped"}.get(code, "failed")
        if step.status == "failed":
            step.note = f"exit status {code}: {step.note}"
        return step
