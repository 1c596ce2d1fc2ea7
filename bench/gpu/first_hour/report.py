# SPDX-License-Identifier: Apache-2.0
"""Compares the measured rows with the estimates of estimates.json, and writes the results as JSON and as a page in
Markdown."""
import json
import pathlib

ESTIMATES = json.loads(pathlib.Path(__file__).with_name("estimates.json").read_text(encoding="utf-8"))
VERDICTS = ["confirmed", "refuted", "not measured"]


def cell(rows, table, label, column):
    """Returns the number in a table's row and column, or None. A row's first column has its label."""
    for row in rows:
        if row["table"] == table and list(row.values())[1:2] == [label]:
            value = row.get(column)
            return value if isinstance(value, (int, float)) else None
    return None


# The sections of run.sh that measure tables of other names.
SECTIONS = {"start": "primitives", "blocks": "loops", "ring allreduce": "ring"}


def reason(estimate, parts):
    """Returns why an estimate was not measured: the status of the section that measures it."""
    sections = [SECTIONS.get(place[0], place[0]) for place in estimate["cells"]]
    steps = {step["name"]: step["status"] for part in parts for step in part["steps"]}
    return "; ".join(f"{name}: {steps.get(name, 'not run')}" for name in dict.fromkeys(sections))


def judged(rows, parts):
    """Returns the estimates with their value, verdict and reason. The value is that of one cell, or the quotient of two.
    An estimate without `least` or `most` has no such limit."""
    result = []
    for estimate in ESTIMATES:
        values = [cell(rows, *place) for place in estimate["cells"]]
        value = None
        if None not in values and (len(values) == 1 or values[1] != 0):
            value = values[0] / values[1] if len(values) == 2 else values[0]
        holds = value is not None and estimate.get("least", value) <= value <= estimate.get("most", value)
        verdict = VERDICTS[2] if value is None else VERDICTS[0] if holds else VERDICTS[1]
        result.append({**estimate, "value": value, "verdict": verdict, "reason": reason(estimate, parts) if value is None else ""})
    return result


def shown(value):
    if value is None:
        return "–"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def shown_range(estimate):
    if "most" not in estimate:
        return f"at least {shown(estimate['least'])} {estimate['unit']}"
    if "least" not in estimate:
        return f"at most {shown(estimate['most'])} {estimate['unit']}"
    return f"{shown(estimate['least'])} to {shown(estimate['most'])} {estimate['unit']}"


def escaped(text):
    return str(text).replace("|", "\\|").replace("\n", " ")[:300]


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    return lines + ["| " + " | ".join(escaped(value) for value in row) + " |" for row in rows] + [""]


def summary(rows, parts):
    """Returns one line with the number of each verdict and the parts that did not pass."""
    estimates = judged(rows, parts)
    counts = ", ".join(f"{sum(each['verdict'] == verdict for each in estimates)} {verdict}" for verdict in VERDICTS)
    bad = [f"{part['name']} ({part['status']})" for part in parts if part["status"] != "passed"]
    return f"estimates: {counts}; parts that did not pass: {', '.join(bad) or 'none'}"


def shown_verdict(each):
    if each["verdict"] == "refuted":
        return "**refuted**"
    return f"{each['verdict']} ({each['reason']})" if each["reason"] else each["verdict"]


def tails(parts):
    """Returns the last lines of the logs of steps that did not pass."""
    lines = []
    for step in (step for part in parts for step in part["steps"] if step["tail"]):
        lines += [f"### {step['name']}: {step['status']}", "", "```", *step["tail"], "```", ""]
    return lines


def measured_tables(rows):
    lines = []
    for name in dict.fromkeys(row["table"] for row in rows):
        group = [row for row in rows if row["table"] == name]
        columns = list(dict.fromkeys(column for row in group for column in list(row)[1:]))
        if not columns:
            continue
        lines += [f"### {name[0].upper()}{name[1:]}", ""]
        lines += table(columns, [[row.get(columns[0], "–"), *(shown(row.get(column)) for column in columns[1:])] for row in group])
    return lines


def page(machine, parts, rows, waiting):
    """Returns the page. `waiting` has the names of the parts that have not begun yet."""
    lines = ["# The first hour on a GPU", "", summary(rows, parts) + ".", ""]
    if waiting:
        lines += [f"**Incomplete:** not begun: {', '.join(waiting)}.", ""]
    lines += ["## Machine", ""] + table(["", ""], machine.items())
    lines += ["## Estimates", "", "Most estimates are for an H100. A range is the estimate with a tolerance.", ""]
    lines += table(["estimate", "range", "measured", "verdict", "source"],
                   [[each["says"], shown_range(each), shown(each["value"]),
                     shown_verdict(each), each["from"]] for each in judged(rows, parts)])
    lines += ["## Parts", ""]
    lines += table(["part", "what", "result", "seconds", "limit"],
                   [[part["name"], part["what"], part["status"], part["seconds"], part["limit"]] for part in parts])
    lines += table(["part", "step", "result", "seconds", "note", "log"],
                   [[part["name"], step["name"], step["status"], step["seconds"], step["note"],
                     f"logs/{step['log']}" if step["log"] else ""] for part in parts for step in part["steps"]])
    lines += tails(parts)
    lines += ["## Measurements", ""] + measured_tables(rows)
    return "\n".join(lines).rstrip() + "\n"


def replace(path, text):
    """Writes a file completely or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def write(folder, machine, parts, rows, waiting):
    result = {"machine": machine, "estimates": judged(rows, parts), "parts": parts, "not begun": waiting, "rows": rows}
    replace(folder / "first-hour.json", json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    replace(folder / "first-hour.md", page(machine, parts, rows, waiting))
