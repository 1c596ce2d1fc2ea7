# SPDX-License-Identifier: Apache-2.0
"""Opens pages that gc3c writes in headless Chromium, and reads their contents. Tests take GC3C SOURCE-TREE as
arguments."""
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
    """Returns the final contents of the output of an allreduce, by (rank, slot)."""
    return {(r, c): " + ".join(f"{q}:{c}" for q in range(ranks)) for r in range(ranks) for c in range(ranks)}


RELAY = """// Rank 0 to rank 1 to rank 2.
import "std/ranks.gc3";
program relay implements broadcast(ranks = 3, chunks = 2) {
    let c = chunk(0, input, 0, 2);
    c.copy(0, output, 0);
    let d = c.copy(1, output, 0);
    let e = d.copy(
        2, output, 0);
}
"""


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.browser = cls.enterClassContext(webdriver.Browser())

    def open(self, source, *options, fragment=""):
        page = pathlib.Path(self.folder) / "page.html"
        gc3c(source, "--emit=html", "-o", str(page), *options)
        self.browser.size(1400, 900)
        self.browser.open("about:blank")  # loads the page again even if only the fragment differs
        self.browser.open(page.as_uri() + fragment)

    def write(self, name, text):
        source = pathlib.Path(self.folder) / name
        source.write_text(text)
        return source

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)"
        return self.browser.run(script, selector)

    def box(self, selector):
        """Returns an element's left, top, right and bottom."""
        script = "const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]"
        return self.browser.run(script, selector)

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').length"), 0)

    def tick(self):
        now, _, ticks = self.browser.text("#clock").partition(" / ")
        return int(now), int(ticks)

    def held(self, buffer="output"):
        """Returns the contents of a buffer's slots that the page shows, by (rank, slot)."""
        labels = self.browser.run("return [...document.querySelectorAll('.cell')].map((c) => c.ariaLabel)")
        found = [HELD.fullmatch(label).groups() for label in labels]
        return {(int(rank), int(slot)): held for rank, name, slot, held in found if name == buffer}

    def speed(self, ticks_per_second):
        self.browser.run(
            "const s = document.querySelector('#speed'); s.value = arguments[0]; s.onchange({target: s})",
            ticks_per_second,
        )

    def seek(self, tick):
        self.browser.run("const s = document.querySelector('#slider'); s.value = arguments[0]; s.oninput({target: s})", tick)

    def marked(self):
        return "".join(self.texts("mark"))

    def lit(self):
        """Returns the numbers, from 1, of the lit lines in the visible file."""
        return [int(number) for number in self.texts(".file:not([hidden]) .line.now i")]

    def tip(self):
        return self.texts("#tip:not([hidden]) p")

    def assert_ends_with(self, expected):
        held = self.held()
        self.assertEqual({place: held[place] for place in expected}, expected)
        count = len(expected)
        self.assertEqual(self.browser.text("#progress-text"), f"{count} of {count} output slots as promised")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.cell.kept').length"), count)


def main():
    if webdriver.missing():
        print(f"SKIPPED: the page is not tested, as there is no {' and no '.join(webdriver.missing())} here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
