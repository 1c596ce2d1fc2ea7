# SPDX-License-Identifier: Apache-2.0
"""page_test.py GC3C SOURCE-TREE: opens pages that gc3c writes in headless Chromium, plays them, and looks at what they
show: contents of slots against what the collective means, bars against the steps of the GC3-IR."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import webdriver

GC3C, ROOT = (sys.argv + ["", ""])[1:3]
EXAMPLES = pathlib.Path(ROOT) / "examples"
HELD = re.compile(r"rank (\d+) (\w+)\[(\d+)\] (?:holds (.*)|is empty)")


def gc3c(source, *options):
    return subprocess.run([GC3C, str(source), *options], check=True, capture_output=True, text=True).stdout


def allreduce(ranks):
    """What every slot of the output holds in the end, by (rank, slot)."""
    return {(r, c): " + ".join(f"{q}:{c}" for q in range(ranks)) for r in range(ranks) for c in range(ranks)}


def alltoall(ranks):
    return {(r, q): f"{q}:{r}" for r in range(ranks) for q in range(ranks)}


def alltonext(ranks, chunks):
    return {(r, c): f"{r - 1}:{c}" for r in range(1, ranks) for c in range(chunks)}


PROGRAMS = {
    "ring_allreduce": (["-DR=4", "-Dchannels=2"], allreduce(4)),
    "twostep_alltoall": (["-DN=2", "-DG=3"], alltoall(6)),
    "alltonext": (["-DN=2", "-DG=3"], alltonext(6, 3)),
    "hierarchical_allreduce": (["-DN=2", "-DG=2"], allreduce(4)),
}
HOSTILE = """// </script><script>document.title = "taken"</script> <!-- <b>
param R: int = 2;
program p implements allreduce(ranks = R, chunks = 1, inplace = true) {
	/* é😀 \x7f */ chunk(0, input, 0).reduce(chunk(1, input, 0)).copy(1, input, 0); // &lt;b&gt;
}
"""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def open(self, source, *options):
        page = pathlib.Path(self.folder) / "page.html"
        gc3c(source, "--emit=html", "-o", str(page), *options)
        self.browser.size(1400, 900)
        self.browser.open("about:blank")  # so that a fragment is not all that changes
        self.browser.open(page.as_uri())

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').length"), 0)

    def tick(self):
        now, _, ticks = self.browser.text("#clock").partition(" / ")
        return int(now), int(ticks)

    def held(self, buffer="output"):
        """What the page says that the slots of a buffer hold, by (rank, slot)."""
        labels = self.browser.run("return [...document.querySelectorAll('.cell')].map((c) => c.ariaLabel)")
        found = [HELD.fullmatch(label).groups() for label in labels]
        return {(int(rank), int(slot)): held for rank, name, slot, held in found if name == buffer}

    def speed(self, ticks_per_second):
        self.browser.run(
            "const s = document.querySelector('#speed'); s.value = arguments[0]; s.onchange({target: s})",
            ticks_per_second,
        )

    def marked(self):
        return self.browser.run("return [...document.querySelectorAll('mark')].map((m) => m.textContent).join('')")

    def assert_ends_with(self, expected):
        held = self.held()
        self.assertEqual({place: held[place] for place in expected}, expected)
        count = len(expected)
        self.assertEqual(self.browser.text("#progress-text"), f"{count} of {count} output slots as promised")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.cell.kept').length"), count)

    def test_play_reaches_the_postcondition(self):
        for name, (options, expected) in PROGRAMS.items():
            with self.subTest(name):
                self.open(EXAMPLES / f"{name}.gc3", *options)
                _, ticks = self.tick()
                self.assertTrue(self.browser.text("#progress-text").startswith("0 of "))
                self.speed(32)
                self.browser.click("#play")
                self.browser.wait("the end", f"document.querySelector('#clock').textContent === '{ticks} / {ticks}'")
                self.assert_ends_with(expected)

    def test_bars_are_the_steps(self):
        for name, (options, _) in PROGRAMS.items():
            with self.subTest(name):
                self.open(EXAMPLES / f"{name}.gc3", *options)
                text = gc3c(EXAMPLES / f"{name}.gc3", "--emit=gc3-ir", *options)
                steps = re.findall(r"^    \d+: (\w+)", text, re.M)
                bars = self.browser.run(
                    "return [...document.querySelectorAll('.bar')].map((bar) => [bar.textContent,"
                    "bar.firstChild.getAttribute('x'), bar.firstChild.getAttribute('y')])"
                )
                self.assertEqual([bar[0] for bar in bars], steps)
                self.assertEqual(len({(x, y) for _, x, y in bars}), len(bars), "bars overlap")

    def test_slider_and_steps(self):
        options, expected = PROGRAMS["ring_allreduce"]
        self.open(EXAMPLES / "ring_allreduce.gc3", *options)
        begin = self.held()
        self.assertEqual(begin, {(r, c): f"{r}:{c}" for r in range(4) for c in range(4)})
        self.browser.type("#slider", "end")
        self.assert_ends_with(expected)
        self.browser.type("#slider", "home")
        self.assertEqual(self.held(), begin)
        self.browser.click("#last")
        self.assert_ends_with(expected)
        self.browser.click("#back")
        _, ticks = self.tick()
        self.assertEqual(self.tick(), (ticks - 1, ticks))
        self.browser.click("#first")
        self.browser.click("#forward")
        self.browser.wait("a tick on", f"document.querySelector('#clock').textContent === '1 / {ticks}'")
        self.browser.type("body", "right", "right")
        self.browser.wait("two on", f"document.querySelector('#clock').textContent === '3 / {ticks}'")
        self.browser.type("body", "left")
        self.assertEqual(self.tick(), (2, ticks))
        self.browser.run("const s = document.querySelector('#slider'); s.value = 4; s.oninput({target: s})")
        sums = [held for held in self.held().values() if "+" in held]
        self.assertEqual(sorted(sums), sorted(expected[(0, c)] for c in range(4)))  # each rank has one finished sum

    def test_space_plays_and_pauses(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=16")
        self.speed(0.5)  # a minute for the whole: nobody pauses too late
        self.browser.type("body", "space")
        self.assertEqual(self.browser.run("return document.querySelector('#play').ariaLabel"), "Pause")
        self.browser.type("body", "space")
        self.assertEqual(self.browser.run("return document.querySelector('#play').ariaLabel"), "Play")

    def test_choosing_a_step(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=4")
        self.browser.click(".bar[data-step='1'] rect")
        self.assertIn("rank 0 · tb 0 · step 1", self.browser.text("#details h2"))
        self.assertEqual(self.marked(), "reduce(sum)")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.links path.message').length"), 2)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.cell.reads').length"), 1)
        partners = self.browser.run("return [...document.querySelectorAll('#details .step')].map((b) => b.textContent)")
        self.assertEqual(partners, ["rank 3 tb 0 step 0", "rank 1 tb 0 step 2"])
        self.browser.click("#details .step")
        self.assertIn("rank 3 · tb 0 · step 0", self.browser.text("#details h2"))
        self.browser.type("body", "n")
        self.assertIn("step 1", self.browser.text("#details h2"))
        self.browser.type("body", "escape")
        self.assertEqual(self.marked(), "")

    def test_waits_are_shown(self):
        self.open(EXAMPLES / "allpairs_allreduce.gc3", "-DR=3")
        text = gc3c(EXAMPLES / "allpairs_allreduce.gc3", "--emit=gc3-ir", "-DR=3")
        lines = re.findall(r"^    \d+: .*", text, re.M)
        step, waits = next((i, line.split(" after ")[1]) for i, line in enumerate(lines) if " after " in line)
        self.browser.click(f".bar[data-step='{step}'] rect")
        drawn = self.browser.run("return document.querySelectorAll('.links path.wait').length")
        self.assertEqual(drawn, waits.count("."))

    def test_hostile_text_stays_text(self):
        folder = pathlib.Path(self.folder) / "<b>x<"
        folder.mkdir()
        source = folder / "script>\udcff.gc3"  # a byte that is no UTF-8
        source.write_text(HOSTILE, encoding="utf-8")
        self.open(source)
        self.assertEqual(self.browser.run("return document.title"), "p – gc3")
        self.assertEqual(self.browser.text("#source h2"), str(source).replace("\udcff", "\ufffd"))
        shown = self.browser.run("return [...document.querySelectorAll('.line code')].map((c) => c.textContent)")
        self.assertEqual("\n".join(shown) + "\n", HOSTILE)
        self.browser.click(".bar[data-step='0'] rect")
        self.assertEqual(self.marked(), "reduce(chunk(1, input, 0))")

    def test_a_program_without_steps(self):
        source = pathlib.Path(self.folder) / "idle.gc3"
        source.write_text("program idle implements allreduce(ranks = 1, chunks = 2, inplace = true) {}\n")
        self.open(source)
        self.assertEqual(self.tick(), (0, 0))
        self.assertEqual(self.held(), {(0, 0): "0:0", (0, 1): "0:1"})
        self.browser.click("#play")
        self.browser.click("#forward")
        self.assertEqual(self.tick(), (0, 0))

    def test_nothing_is_wider_than_the_window(self):
        for name, options in (("ring_allreduce", ["-DR=64"]), ("twostep_alltoall", ["-DG=4"])):
            self.open(EXAMPLES / f"{name}.gc3", *options)
            for width, height in ((1920, 1080), (1280, 720), (800, 1000), (500, 900)):
                with self.subTest(f"{name} {width}x{height}"):
                    self.browser.size(width, height)
                    self.assertTrue(self.browser.run("return document.documentElement.scrollWidth <= innerWidth"))


if __name__ == "__main__":
    if webdriver.missing():
        print(f"SKIPPED: the page is not tested, as there is no {' and no '.join(webdriver.missing())} here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
