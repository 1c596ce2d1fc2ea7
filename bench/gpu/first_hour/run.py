# SPDX-License-Identifier: Apache-2.0
"""Runs the parts of the first hour, and writes the results after each part.

The time that a part does not need goes to the parts after it. Ends with 0 if no part has failed or run out of time. A
refuted estimate is no failure.
"""
import argparse
import datetime
import os
import pathlib
import platform
import signal
import sys
import time

import report
from commands import STATUSES, Commands, Step
from parts import PARTS, Context

LEAST_SECONDS = 5  # for each part, also if its share is smaller


def options():
    parser = argparse.ArgumentParser(prog="first_hour.sh --run", description=__doc__, allow_abbrev=False)
    parser.add_argument("folder", type=pathlib.Path, help="the folder that first_hour.sh --prepare has made")
    parser.add_argument("--minutes", type=float, default=30, help="limit of all parts together (30)")
    parser.add_argument("--only", help="names of parts, with commas: " + ",".join(name for name, _, _ in PARTS))
    parser.add_argument("--results", type=pathlib.Path, help="folder for the results (FOLDER/results, or FOLDER/results-NAMES with --only)")
    parser.add_argument("--check", action="store_true", help="only check the options")
    chosen = parser.parse_args()
    names = chosen.only.split(",") if chosen.only else [name for name, _, _ in PARTS]
    unknown = set(names) - {name for name, _, _ in PARTS}
    if unknown or not chosen.minutes > 0:
        parser.error(f"there is no part '{unknown.pop()}'" if unknown else "--minutes needs a number above 0")
    chosen.folder = chosen.folder.resolve()
    # The results of some parts do not replace those of all parts.
    default = "-".join(["results", *(name for name, _, _ in PARTS if name in names)]) if chosen.only else "results"
    chosen.results = (chosen.results or chosen.folder / default).resolve()
    # The machine is noted in any case.
    return chosen, [part for part in PARTS if part[0] in names or part[0] == "machine"]


def verdict_of(steps):
    """Returns the worst status of a part's steps."""
    return min((step.status for step in steps), key=STATUSES.index)


def share_of(part, context):
    """Returns the part's share of the time. On one GPU, the part for several GPUs needs none."""
    return part[2] if part[0] != "gpus" or context.gpus != 1 else 0.01


def run_part(context, function):
    """Runs a part. An error of this script does not affect the other parts."""
    try:
        return function(context)
    except Exception as error:  # pylint: disable=broad-exception-caught
        return [Step(function.__name__, "failed", f"{type(error).__name__}: {error}")]


def handle_signals():
    """Lets the commands end, too, if a signal ends this script: they do not get the signal, as each has its own session.
    A signal that is ignored, as under nohup, stays ignored."""
    handled = [number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]

    def end(number, _):
        for each in handled:  # a further signal does not interrupt the end
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in handled:
        signal.signal(number, end)


def main():
    handle_signals()
    chosen, parts = options()
    if chosen.check:
        return 0
    cuda = "/usr/local/cuda/bin"
    if os.path.isdir(cuda):
        os.environ["PATH"] += os.pathsep + cuda
    context = Context(chosen.folder, chosen.results, Commands(chosen.results / "logs"))
    version = chosen.folder / "version"
    context.machine = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
                       "gc3": version.read_text().strip() if version.exists() else "unknown",
                       "system": f"{platform.system()} {platform.release()}, {os.cpu_count()} processors, "
                                 f"Python {platform.python_version()}"}
    end = time.monotonic() + chosen.minutes * 60
    done = []
    for i, part in enumerate(parts):
        name, function, _ = part
        begin = time.monotonic()
        left = max(0, end - begin)
        share = share_of(part, context) / sum(share_of(rest, context) for rest in parts[i:])
        limit = max(left * share, min(left, LEAST_SECONDS))
        context.deadline = begin + limit
        print(f"==> {name}: at most {limit:.0f} s", flush=True)
        steps = run_part(context, function)
        done.append({"name": name, "what": (function.__doc__ or "").split("\n\n")[0], "status": verdict_of(steps),
                     "seconds": round(time.monotonic() - begin, 1), "limit": round(limit, 1),
                     "steps": [step.as_json() for step in steps]})
        for step in steps:
            print(f"    {step.name}: {step.status}{': ' + step.note if step.note else ''} ({step.seconds:.1f} s)", flush=True)
        report.write(chosen.results, context.machine, done, context.rows, [rest[0] for rest in parts[i + 1:]])
    print(report.summary(context.rows, done))
    print(f"results: {chosen.results}/first-hour.json and first-hour.md")
    return 1 if any(each["status"] in ("failed", "missing", "out of time", "unfinished") for each in done) else 0


if __name__ == "__main__":
    sys.exit(main())
