# SPDX-License-Identifier: Apache-2.0
"""sarif.py LOG: checks the parts of a SARIF 2.1.0 log that gc3c writes, and prints the log as text.

Checks the properties that the standard requires (OASIS, SARIF 2.1.0, section 3), and properties that depend on each
other. Rejects all other properties, so that each property that gc3c writes has a check.
"""
import json
import pathlib
import sys
import urllib.parse


def known(thing, required, optional=()):
    """Returns the object. Fails unless it has all properties of `required`, and only these and those of `optional`."""
    assert isinstance(thing, dict), thing
    keys = set(thing)
    assert set(required) <= keys <= set(required) | set(optional), f"{sorted(keys)}: needs {required}, may have {optional}"
    return thing


def message(thing):
    text = known(thing["message"], ["text"])["text"]
    assert isinstance(text, str) and text
    return text


def place(location):
    if "physicalLocation" not in location:
        return ""
    physical = known(location["physicalLocation"], ["artifactLocation"], ["region"])
    uri = known(physical["artifactLocation"], ["uri"])["uri"]
    assert uri == urllib.parse.quote(urllib.parse.unquote(uri), safe="/:-._~"), uri
    if "region" not in physical:
        return f" ({uri})"
    region = known(physical["region"], ["startLine", "startColumn", "endLine", "endColumn"])
    assert all(isinstance(number, int) and number >= 1 for number in region.values())
    begin, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
    assert begin <= end
    return f" ({uri} {begin[0]}:{begin[1]} to {end[0]}:{end[1]})"


def result(record, rules):
    known(record, ["ruleId", "ruleIndex", "level", "message", "locations"], ["relatedLocations"])
    assert rules[record["ruleIndex"]] == record["ruleId"]
    assert record["level"] in ("error", "note")
    (location,) = record["locations"]
    print(f"{record['level']} {record['ruleId']}: {message(record)}{place(known(location, ['physicalLocation']))}")
    for location in record.get("relatedLocations", []):
        print(f"  {message(known(location, ['message'], ['physicalLocation']))}{place(location)}")


def main():
    log = known(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), ["$schema", "version", "runs"])
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    known(run, ["tool", "invocations", "columnKind", "results"])
    assert run["columnKind"] == "unicodeCodePoints"
    driver = known(known(run["tool"], ["driver"])["driver"], ["name", "rules"])
    assert driver["name"] == "gc3c"
    rules = []
    for rule in driver["rules"]:
        known(rule, ["id", "shortDescription"])
        assert known(rule["shortDescription"], ["text"])["text"]
        rules.append(rule["id"])
    assert len(set(rules)) == len(rules) and set(rules) == {record["ruleId"] for record in run["results"]}
    print(f"rules: {', '.join(rules) or 'none'}")
    for record in run["results"]:
        result(record, rules)
    (invocation,) = run["invocations"]
    known(invocation, ["executionSuccessful"], ["toolExecutionNotifications"])
    assert invocation["executionSuccessful"] == all(record["level"] != "error" for record in run["results"])
    print("succeeded" if invocation["executionSuccessful"] else "failed")
    for notification in invocation.get("toolExecutionNotifications", []):
        assert known(notification, ["level", "message"])["level"] == "note"
        print(message(notification))


main()
