#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares gc3's online selection with other policies, on made-up traces.

A trace has 2 to 40 arms and 4 buckets. A kind of traces says what the times are (5 % noise; one call in 20 takes 3 to
10 times as long; the fastest arm and half of the others become 2 to 4 times slower in the middle) and how right the
predictions are (exact, 20 % off, 3 times too long or too short). The figure is the regret: the time of all chosen arms
by the time of the best fixed arm of each bucket, minus 1, after the first 50 calls of a bucket (150 with predictions
that are 3 times off; of a change, 100). All policies have the same predictions, and the same budget: after 50 calls of
a bucket, exploration costs at most 2 % of the time.

usage: selection.py --build DIR [--traces N] [--check]
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile

BUCKETS, PER_BUCKET, BUDGET, FIRST = 4, 400, 0.02, 50
# times, predictions, calls of a bucket (of a change) that do not count, permitted mean regret
KINDS = [("stationary", "exact", 50, 0.02), ("stationary", "20 % off", 50, 0.05), ("stationary", "3 times off", 150, 0.05),
         ("heavy tails", "exact", 50, 0.08), ("heavy tails", "20 % off", 50, 0.08), ("heavy tails", "3 times off", 150, 0.08),
         ("a change", "20 % off", 100, 0.10)]
ARMS = [2, 6, 16, 40]


def error_of_prediction(predictions, rng):
    if predictions == "exact":
        return 1
    return math.exp(rng.gauss(0, 0.2)) if predictions == "20 % off" else rng.choice([3, 1 / 3])


def make_trace(times, predictions, arms, rng):
    """Returns a trace as gc3-tune --replay reads it. Arms have a latency and a rate, so the best arm depends on the size."""
    costs = [(10 * math.exp(rng.uniform(0, 1.4)), math.exp(rng.uniform(0, 1.4))) for _ in range(arms)]
    exact = [[latency + rate * 4 ** b for latency, rate in costs] for b in range(BUCKETS)]
    errors = [error_of_prediction(predictions, rng) for _ in range(arms)]
    predicted = [[exact[b][a] * errors[a] for b in range(BUCKETS)] for a in range(arms)]
    factors = [rng.uniform(2, 4) if rng.random() < 0.5 else 1 for _ in range(arms)]
    best = min(range(arms), key=lambda a: exact[1][a])
    if all(factor > 1 for factor in factors):
        factors[(best + 1) % arms] = 1
    factors[best] = 3
    calls = []
    for i in range(BUCKETS * PER_BUCKET):
        bucket = rng.randrange(BUCKETS)
        drawn = []
        for a in range(arms):
            time = exact[bucket][a] * math.exp(rng.gauss(0, 0.05))
            if times == "a change" and i >= BUCKETS * PER_BUCKET // 2:
                time *= factors[a]
            if times == "heavy tails" and rng.random() < 0.05:
                time *= rng.uniform(3, 10)
            drawn.append(time)
        calls.append({"bucket": bucket, "times": drawn})
    return {"arms": [{"name": f"arm{a}", "predicted": predicted[a]} for a in range(arms)],
            "buckets": [1024 * 4 ** b for b in range(BUCKETS)], "calls": calls}


def gc3(trace, rng, build, ranks=1):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(trace, file)
        file.flush()
        tool = os.path.join(build, "tools/gc3-tune/gc3-tune")
        done = subprocess.run([tool, "--replay", file.name, "--ranks", str(ranks)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["choices"]


def bandit(pick):
    """Returns a policy. It keeps means of logarithms of times, in which a prediction counts as one sample."""
    def run(trace, rng, build):
        arms = len(trace["arms"])
        means = [[math.log(arm["predicted"][b]) for arm in trace["arms"]] for b in range(BUCKETS)]
        counts = [[1] * arms for _ in range(BUCKETS)]
        calls, spent, total, choices = [0] * BUCKETS, 0, 0, []
        for call in trace["calls"]:
            b = call["bucket"]
            mean, count = means[b], counts[b]
            calls[b] += 1
            best = min(range(arms), key=lambda a: mean[a])
            arm = pick(mean, count, calls[b], best, rng)
            cost = max(0, math.exp(mean[arm]) - math.exp(mean[best]))
            if arm != best and calls[b] > FIRST:
                if spent + cost > BUDGET * total:
                    arm = best
                else:
                    spent += cost
            count[arm] = min(count[arm] + 1, 50)
            mean[arm] += (math.log(call["times"][arm]) - mean[arm]) / count[arm]
            total += call["times"][arm]
            choices.append(arm)
        return choices
    return run


def epsilon_greedy(mean, count, calls, best, rng):
    return rng.randrange(len(mean)) if rng.random() < (0.5 if calls <= FIRST else 0.1) else best


def ucb1(mean, count, calls, best, rng):
    return min(range(len(mean)), key=lambda a: mean[a] - 0.3 * math.sqrt(2 * math.log(calls + 1) / count[a]))


def thompson(mean, count, calls, best, rng):
    return min(range(len(mean)), key=lambda a: rng.gauss(mean[a], 0.25 / math.sqrt(count[a])))


POLICIES = {"gc3": gc3, "gc3, 4 ranks": lambda *all: gc3(*all, ranks=4), "ε-greedy": bandit(epsilon_greedy),
            "UCB1": bandit(ucb1), "Thompson": bandit(thompson)}


def regret(trace, choices, skipped, is_change):
    first = len(choices) // 2 if is_change else 0
    seen, mine = [0] * BUCKETS, 0
    fixed = [[0] * len(trace["arms"]) for _ in range(BUCKETS)]
    for call, arm in list(zip(trace["calls"], choices))[first:]:
        b = call["bucket"]
        seen[b] += 1
        if seen[b] > skipped:
            mine += call["times"][arm]
            fixed[b] = [sum + time for sum, time in zip(fixed[b], call["times"])]
    return mine / sum(min(row) for row in fixed) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--traces", type=int, default=8, help="traces of each kind and number of arms (default 8)")
    parser.add_argument("--check", action="store_true", help="fail if gc3's mean regret exceeds the limit, or that of another policy")
    options = parser.parse_args()
    print("| times | predictions | limit | " + " | ".join(POLICIES) + " |")
    print("| --- | --- | --- |" + " --- |" * len(POLICIES))
    failures = []
    for times, predictions, skipped, limit in KINDS:
        found = {name: [] for name in POLICIES}
        for arms in ARMS:
            for number in range(options.traces):
                trace = make_trace(times, predictions, arms, random.Random(f"{times} {predictions} {arms} {number}"))
                for name, policy in POLICIES.items():
                    choices = policy(trace, random.Random(number), options.build)
                    found[name].append(regret(trace, choices, skipped, times == "a change"))
        means = {name: sum(values) / len(values) for name, values in found.items()}
        cells = [f"{100 * means[name]:.1f} % ({100 * max(found[name]):.0f} %)" for name in POLICIES]
        print(f"| {times} | {predictions} | {100 * limit:.0f} % | " + " | ".join(cells) + " |", flush=True)
        others = min(means[name] for name in POLICIES if not name.startswith("gc3"))
        if means["gc3"] > min(limit, others):
            failures.append(f"{times}, {predictions}: {100 * means['gc3']:.2f} %")
    if options.check and failures:
        raise SystemExit("gc3's regret is too large: " + "; ".join(failures))


if __name__ == "__main__":
    main()
