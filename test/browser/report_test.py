# SPDX-License-Identifier: Apache-2.0
"""report_test.py GC3-SIM SOURCE-TREE: tests the page of --report: the curves by the labels of their axes, the legend, the
tooltips, the pictures of resources and critical paths, the table, and the layout for several window sizes."""
import json
import math
import pathlib
import re
import subprocess
import sys

import pages
from pages import EXAMPLES

GC3_SIM = sys.argv[1]
PROGRAMS = """import "std/allpairs.gc3";
import "std/ring.gc3";
program allpairs implements allreduce(ranks = 8, chunks = 8, inplace = true) {
    sizes 0 .. 1MiB;
    protocol LL;
    allpairs_allreduce(0..8, input);
}
program ring implements allreduce(ranks = 8, chunks = 8, inplace = true) {
    sizes 1MiB .. 1GiB;
    ring_allreduce([r for r in 0..8], input);
}
"""
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# Returns [x, y] of the points of a curve.
POINTS = """return [...document.querySelectorAll(`svg[data-kind=${arguments[0]}] g[data-curve="${arguments[1]}"] circle`)]
    .map((dot) => [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy'))])"""
# Returns [place, text] of the labels of an axis.
LABELS = """return [...document.querySelectorAll(`svg[data-kind=${arguments[0]}] text.${arguments[1]}`)]
    .map((label) => [Number(label.getAttribute(arguments[2])), label.textContent])"""


def bytes_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def value_of(text):
    return float(text.replace(",", ""))


class Axis:
    """Converts places to values, by the first and the last label of a logarithmic axis."""

    def __init__(self, labels, parse):
        (self.begin, first), (self.end, last) = labels[0], labels[-1]
        self.low, self.high = math.log(parse(first)), math.log(parse(last))

    def value(self, place):
        return math.exp(self.low + (self.high - self.low) * (place - self.begin) / (self.end - self.begin))


class Report(pages.PageTest):
    def open(self, source, *options):
        """Opens the page of a file. Returns its rows."""
        page = pathlib.Path(self.folder) / "page.html"
        command = [GC3_SIM, str(source), "--report", str(page), "--json=-", *options]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]
        self.browser.size(1200, 1400)
        self.browser.open(page.as_uri())
        return rows

    def open_both(self, *options):
        both = ["--topology=dgx-a100", "--program=all", "--baseline=nccl", "-b", "1KiB", "-e", "64MiB"]
        return self.open(self.write("both.gc3", PROGRAMS), *both, *options)

    def values(self, kind, curve):
        """Returns {size: value} of the points of a curve, read by the labels of the axes."""
        x = Axis(self.browser.run(LABELS, kind, "size", "x"), bytes_of)
        # The labels' y is 4 below that of their lines.
        y = Axis([(place - 4, text) for place, text in self.browser.run(LABELS, kind, "value", "y")], value_of)
        points = self.browser.run(POINTS, kind, curve)
        return {2 ** round(math.log2(x.value(left))): y.value(top) for left, top in points}

    def assert_curve(self, kind, curve, expected):
        drawn = self.values(kind, curve)
        self.assertEqual(sorted(drawn), sorted(expected))
        for size, value in expected.items():
            self.assertLess(abs(drawn[size] / value - 1), 0.02, f"{kind} of {curve} at {size}")

    def test_curves_are_the_rows(self):
        rows = self.open_both()
        for name in ("allpairs", "ring"):
            own = [row for row in rows if row["program"] == name]
            self.assertEqual(len(own), 17)
            self.assert_curve("time", name, {row["size"]: row["time"] for row in own})
            self.assert_curve("bandwidth", name, {row["size"]: row["size"] / row["time"] / 1000 for row in own})
            self.assert_curve("speedup", name, {row["size"]: row["speedup"] for row in own})
        self.assert_curve("time", "NCCL", {row["size"]: row["baseline"] for row in rows})
        names = "return [...document.querySelectorAll('svg .name')].map((text) => text.textContent)"
        self.assertEqual(self.browser.run(names), ["Size", "Speed-up", "Size", "Time (µs)", "Size", "Bandwidth (GB/s)"])
        self.assertEqual(self.texts(".cards h3 :first-child")[:3], ["higher is better", "lower is better", "size divided by time"])

    def test_without_a_baseline(self):
        rows = self.open(EXAMPLES / "ring_allreduce.gc3", "--topology=ring:8", "-b", "1KiB", "-e", "8KiB")
        kinds = "return [...document.querySelectorAll('svg[data-kind]')].map((svg) => svg.dataset.kind)"
        self.assertEqual(self.browser.run(kinds), ["time", "bandwidth", "path", "heat"])
        self.assert_curve("time", "ring_allreduce", {row["size"]: row["time"] for row in rows})

    def test_a_program_by_size(self):
        """Checks that a curve has points only where the table has the program."""
        self.open(self.write("both.gc3", PROGRAMS), "--topology=dgx-a100", "-b", "256KiB", "-e", "4MiB")
        self.assertEqual(sorted(self.values("time", "allpairs")), [1 << 18, 1 << 19])
        self.assertEqual(sorted(self.values("time", "ring")), [1 << 20, 1 << 21, 1 << 22])

    def test_choices_over_time(self):
        """Adds a history to a page, as gc3-tune --replay does."""
        self.open_both()
        page = pathlib.Path(self.folder) / "page.html"
        before, data, after = re.fullmatch(r'(.*id="data">)(.*?)(</script>.*)', page.read_text(), re.S).groups()
        data = json.loads(data)
        data["sections"][0]["histories"] = [{"bytes": 1024, "calls": [0, 10],
            "shares": {"rows": ["allpairs", "ring"], "values": [0.75, 0, 0.25, 1], "note": ""}}]
        page.write_text(before + json.dumps(data).replace("<", "\\u003c") + after)
        self.browser.open(page.as_uri())
        cells = "return [...document.querySelectorAll('svg[data-kind=history] rect')].map((cell) => cell.dataset.value)"
        self.assertEqual(self.browser.run(cells), ["0.7500", "0.0000", "0.2500", "1.0000"])
        self.assertEqual(self.texts("svg[data-kind=history] text.size"), ["call 0", "call 10"])
        self.assertEqual(self.texts("svg[data-kind=history] text title"), ["allpairs", "ring"])

    def test_ranges_and_background(self):
        """Changes the data of a page to those that gc3-tune can have."""
        self.open_both()
        page = pathlib.Path(self.folder) / "page.html"
        before, data, after = re.fullmatch(r'(.*id="data">)(.*?)(</script>.*)', page.read_text(), re.S).groups()
        data = json.loads(data)
        section = data["sections"][0]
        section["curves"][0]["isBackground"] = True
        section["ranges"] = [{"curve": -1, "begin": 0, "end": 4096}, {"curve": 1, "begin": 4096, "end": 2**64}]
        page.write_text(before + json.dumps(data).replace("<", "\\u003c") + after)
        self.browser.open(page.as_uri())
        self.assertEqual(self.texts("[data-kind=ranges] td, [data-kind=ranges] th"),
                         ["From", "to", "served by", "0 B", "4 KiB", "NCCL", "4 KiB", "any size", "ring"])
        self.assertEqual(self.texts(".legend button"), ["ring", "NCCL"])
        self.assertEqual(self.texts(".legend li > span"), ["1 more"])
        order = "return [...document.querySelectorAll('svg[data-kind=time] g[data-curve]')].map((g) => g.dataset.curve)"
        self.assertEqual(self.browser.run(order), ["allpairs", "ring", "NCCL"])
        self.assertEqual(self.browser.run("return document.querySelectorAll('.curve.background').length"), 3)
        self.assertEqual(self.browser.run(POINTS, "time", "allpairs"), [])  # a line without points
        self.browser.click(".legend li:nth-child(1) button")
        self.assertEqual(self.browser.run(POINTS, "time", "ring"), [])
        self.assertEqual(len(self.browser.run(POINTS, "time", "NCCL")), 17)

    def test_sizes_of_zero(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "--topology=ring:8", "-b", "0", "-e", "8")
        self.assertEqual(self.texts("tbody th"), ["4 B", "8 B"])
        self.assertEqual(len(self.browser.run(POINTS, "time", "ring_allreduce")), 2)
        self.open(EXAMPLES / "ring_allreduce.gc3", "--topology=ring:8", "-b", "0", "-e", "0")
        self.assertEqual(self.texts("main p"), ["There are no sizes above 0."])

    def test_one_size(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "--topology=ring:8", "-b", "1KiB", "-e", "1KiB")
        self.assertEqual(len(self.browser.run(POINTS, "time", "ring_allreduce")), 1)
        self.assertEqual(self.texts("svg[data-kind=time] text.size"), ["1 KiB"])

    def test_legend(self):
        self.open_both()
        self.assertEqual(self.texts(".legend button"), ["allpairs", "ring", "NCCL"])
        self.browser.click(".legend li:nth-child(2) button")
        for kind in ("speedup", "time", "bandwidth"):
            self.assertEqual(self.browser.run(POINTS, kind, "ring"), [])
            self.assertEqual(len(self.browser.run(POINTS, kind, "allpairs")), 17)
        self.browser.click(".legend li:nth-child(2) button")
        self.assertEqual(len(self.browser.run(POINTS, "time", "ring")), 17)

    def test_tooltips(self):
        rows = self.open_both()
        self.browser.point(("svg[data-kind=time]",))
        head, *lines = self.tip()
        at = [row for row in rows if row["size"] == bytes_of(head)]
        self.assertEqual(len(at), 2)
        for row, line in zip(at, lines):
            name, time = re.fullmatch(r"(\w+?)([\d.,]+) µs", line).groups()
            self.assertEqual(name, row["program"])
            self.assertLess(abs(value_of(time) / row["time"] - 1), 0.01)
        label = at[0]["baseline_program"].removeprefix("nccl ")
        self.assertTrue(lines[2].startswith(f"NCCL ({label})"), lines)
        self.browser.point(("h1",))
        self.assertEqual(self.tip(), [])

    def test_keys_choose_a_size(self):
        self.open_both()
        plot = "svg[data-kind=speedup]"
        self.browser.run("document.querySelector(arguments[0]).focus()", plot)
        self.keys("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
        self.assertEqual(self.tip()[0], "2 KiB")
        self.assertEqual(len(self.texts(f"{plot} line.cursor")), 1)
        self.keys("Escape")
        self.assertEqual(self.tip(), [])

    def keys(self, *names):
        script = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
        for name in names:
            self.browser.run(script, name)

    def test_resources_and_critical_path(self):
        self.open_both()
        shown = "return [...document.querySelectorAll('section.card:not([hidden]) svg[data-kind=%s] rect')].map((r) => [r.dataset.value, r.getAttribute('x'), Number(r.getAttribute('height'))])"
        cells = self.browser.run(shown % "heat")
        labels = self.texts("section.card:not([hidden]) svg[data-kind=heat] text title")
        self.assertEqual(labels, ["8 nvswitch ports, in", "8 nvswitch ports, out", "8 memories of GPUs"])
        self.assertEqual(len(cells), 3 * 17)
        self.assertTrue(all(0 <= float(value) <= 1 for value, _, _ in cells))
        parts = {}
        for _, x, height in self.browser.run(shown % "path"):
            parts[x] = parts.get(x, 0) + height
        self.assertEqual(len(parts), 17)
        self.assertTrue(all(abs(height - 220) < 0.01 for height in parts.values()), parts)
        self.browser.point(("section.card:not([hidden]) svg[data-kind=heat] rect:nth-of-type(17)",))
        self.assertEqual(self.tip()[0], "64 MiB")
        self.assertRegex(self.tip()[1], r"^8 nvswitch ports, in[\d.]+ %$")
        hidden = "return [...document.querySelectorAll('section.card')].map((card) => card.hidden).slice(-4)"
        self.assertEqual(self.browser.run(hidden), [False, False, True, True])
        self.browser.run("const s = document.querySelector('.choose'); s.value = 1; s.onchange()")
        self.assertEqual(self.browser.run(hidden), [True, True, False, False])
        self.assertEqual(len(self.browser.run(shown % "heat")), 3 * 17)

    def test_table(self):
        rows = self.open_both()
        table = self.browser.run(
            "return [...document.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
        )
        first, second = rows[:17], rows[17:]
        for line, a, b in zip(table, first, second, strict=True):
            baseline = f"{a['baseline']:.2f} ({a['baseline_program'].removeprefix('nccl ')})"
            best = a["baseline"] / min(a["time"], b["time"])
            self.assertEqual(line[1:], [f"{a['time']:.2f}", f"{b['time']:.2f}", baseline, f"{best:.2f}×"])
        self.assertEqual(self.browser.run("return document.querySelectorAll('td.best').length"), 17)

    def test_hostile_text_stays_text(self):
        source = self.write("<img src=x onerror=alert(1)>.gc3", PROGRAMS)
        self.open(source, "--topology=dgx-a100", "-b", "1KiB", "-e", "2KiB", f"--baseline={source}")
        self.assertEqual(self.browser.text("h1"), f"{source.name} on dgx-a100")
        self.assertEqual(self.browser.run("return document.title"), f"{source.name} on dgx-a100 – gc3")
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)
        self.assertIn(f"The baseline is the prediction for {source}.", self.texts("#notes p"))

    def test_nothing_is_wider_than_the_window(self):
        self.open_both()
        overlaps = """return [...document.querySelectorAll('svg[data-kind]')].filter((svg) => {
            const boxes = [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect()).filter((box) => box.width);
            return boxes.some((a, i) => boxes.slice(i + 1).some((b) =>
              a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3));
          }).map((svg) => svg.dataset.kind)"""
        for width, height in ((1920, 1080), (1200, 900), (800, 1000), (390, 844)):
            with self.subTest(f"{width}x{height}"):
                self.browser.size(width, height)
                self.browser.wait("the layout", "document.querySelector('svg[data-kind=time]').clientWidth - 1 <= "
                                  "document.querySelector('svg[data-kind=time]').viewBox.baseVal.width")
                self.assertTrue(self.browser.run("return document.documentElement.scrollWidth <= innerWidth"))
                self.assertEqual(self.browser.run(overlaps), [])


if __name__ == "__main__":
    pages.main()
