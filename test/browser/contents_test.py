# SPDX-License-Identifier: Apache-2.0
"""contents_test.py GC3C SOURCE-TREE: tests what a page shows: the contents of slots that the collective promises, a bar
for each step of the GC3-IR, and marks on the source lines of the steps."""
import pathlib
import re

import pages
from pages import EXAMPLES, RELAY, allreduce, gc3c


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


class Contents(pages.PageTest):
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
        source = folder / "script>\udcff.gc3"  # a byte that is not UTF-8
        source.write_text(HOSTILE, encoding="utf-8")
        self.open(source)
        self.assertEqual(self.browser.run("return document.title"), "p – gc3")
        name = str(source).replace("\udcff", "\ufffd")
        self.assertEqual(self.texts("#source h2"), ["/".join(name.split("/")[-2:])])
        self.assertEqual(self.browser.run("return document.querySelector('#source .tab').title"), name)
        shown = self.browser.run("return [...document.querySelectorAll('.line code')].map((c) => c.textContent)")
        self.assertEqual("\n".join(shown) + "\n", HOSTILE)
        self.browser.click(".bar[data-step='0'] rect")
        self.assertEqual(self.marked(), "reduce(chunk(1, input, 0))")

    def test_a_program_without_steps(self):
        self.open(self.write("idle.gc3", "program idle implements allreduce(ranks = 1, chunks = 2, inplace = true) {}\n"))
        self.assertEqual(self.tick(), (0, 0))
        self.assertEqual(self.held(), {(0, 0): "0:0", (0, 1): "0:1"})
        self.browser.click("#play")
        self.browser.click("#forward")
        self.assertEqual(self.tick(), (0, 0))

    def test_lit_lines(self):
        self.open(self.write("relay.gc3", RELAY))
        self.assertEqual(self.texts("#source .tab"), [f"{pathlib.Path(self.folder).name}/relay.gc3"])
        by_tick = {}
        for tick in range(self.tick()[1] + 1):
            self.seek(tick)
            by_tick[tick] = self.lit()
        # In tick 0, rank 0 sends. In tick 1, rank 0 copies, and rank 1 receives and forwards. In tick 2, rank 2
        # receives.
        self.assertEqual(by_tick, {0: [6], 1: [5, 6], 2: [7], 3: []})
        self.browser.click(".bar[data-step='3'] rect")
        self.assertEqual(self.texts(".line.chosen i"), ["7", "8"])
        self.assertEqual(self.marked().split(), ["copy(", "2,", "output,", "0)"])

    def test_files(self):
        """Checks that the file of the program has the first tab. The page must show the file of the current steps, or
        the file that the user has chosen."""
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=4")
        shown = lambda: (self.texts(".tab[aria-pressed='true']"), len(self.texts(".file:not([hidden])")))
        own, library = "examples/ring_allreduce.gc3", "std/chain.gc3"
        self.assertEqual(self.texts("#source .tab"), [own, library])
        self.assertEqual(shown(), ([library], 1))
        self.assertEqual(self.texts(".tab.now"), [library])
        self.browser.click(".tab:first-child")
        self.assertEqual(shown(), ([own], 1))
        self.browser.type("body", "home", "end", "home")
        self.assertEqual(shown(), ([own], 1))
        self.browser.click(".bar[data-step='1'] rect")
        self.assertEqual(shown(), ([library], 1))
        top, bottom = self.box("#source")[1::2]
        line = self.box("mark")
        self.assertTrue(top < line[1] and line[3] < bottom, "the chosen expression is in sight")

    def test_in_place_in_a_part(self):
        for example, titles in (("ring_allgather", [f"output, input is [{r}]" for r in range(3)]),
                                ("ring_reduce_scatter", [f"input, output is [{r}]" for r in range(3)]),
                                ("ring_allreduce", ["output = input"] * 3)):
            with self.subTest(example):
                place = [] if example == "ring_allreduce" else ["-Dinplace=true"]
                self.open(EXAMPLES / f"{example}.gc3", "-DR=3", *place)
                self.assertEqual([title for title in self.texts(".card h3") if "scratch" not in title], titles)
        self.open(EXAMPLES / "ring_allgather.gc3", "-DR=3", "-Dinplace=false")
        self.assertEqual(self.texts(".card h3"), ["input", "output"] * 3)

    def test_instances(self):
        source = self.write("instances.gc3", (EXAMPLES / "allpairs_allreduce.gc3").read_text().replace("{", "{\n    instances 3;", 1))
        self.open(source, "-DR=2")
        self.assertIn("subdivision 3", gc3c(source, "-DR=2", "--emit=gc3-ir").splitlines()[0])
        begin = self.held()
        self.browser.type("body", "end")
        slots = [(r, s) for r in range(2) for s in range(6)]
        self.assertEqual(begin, {(r, s): f"{r}:{s}" for r, s in slots})
        self.assert_ends_with({(r, s): f"0:{s} + 1:{s}" for r, s in slots})


if __name__ == "__main__":
    pages.main()
