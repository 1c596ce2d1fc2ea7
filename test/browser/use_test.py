# SPDX-License-Identifier: Apache-2.0
"""use_test.py GC3C SOURCE-TREE: tests the player, the keys, the mouse and the address (its fragment) of a page, and the
layout for several window sizes."""
import pathlib

import pages
from pages import EXAMPLES, RELAY, allreduce, gc3c


class Use(pages.PageTest):
    def test_slider_and_steps(self):
        expected = allreduce(4)
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=4", "-Dchannels=2")
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
        self.seek(4)
        sums = [held for held in self.held().values() if "+" in held]
        self.assertEqual(sorted(sums), sorted(expected[(0, c)] for c in range(4)))  # each rank has one complete sum

    def test_space_plays_and_pauses(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=16")
        self.speed(0.5)  # at this speed the end comes after a minute, so the pause comes first
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

    def test_the_address_opens_a_tick_and_a_step(self):
        source = EXAMPLES / "ring_allreduce.gc3"
        self.open(source, "-DR=4", fragment="#tick=3")
        self.assertEqual(self.tick()[0], 3)
        self.assertEqual(self.texts("#details h2"), ["Tick 3 · 4 steps at once"])
        self.browser.run("location.hash = '#tick=5&step=1'")
        self.browser.wait("the other address", "document.querySelector('#clock').textContent.startsWith('5 /')")
        self.assertIn("rank 0 · tb 0 · step 1", self.browser.text("#details h2"))
        self.open(source, "-DR=4", fragment="#step=2")
        self.assertEqual(self.tick()[0], 2)
        for nonsense in ("#tick=x&step=y", "#tick=-1&step=99999", "#step=1.5"):
            self.open(source, "-DR=4", fragment=nonsense)
            self.assertEqual(self.tick()[0], 0)
        self.open(source, "-DR=4", fragment="#tick=1e9")
        now, ticks = self.tick()
        self.assertEqual(now, ticks)

    def test_every_key(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=4")
        _, ticks = self.tick()
        speed = lambda: float(self.browser.run("return document.querySelector('#speed').value"))
        first = speed()
        self.browser.type("body", "+", "+")
        self.assertEqual(speed(), 4 * first)
        self.browser.type("body", "-")
        self.assertEqual(speed(), 2 * first)
        self.browser.type("body", *"-" * 20)
        self.assertEqual(speed(), 0.5)
        self.browser.type("body", *"+" * 20)
        self.assertEqual(speed(), 32)
        self.browser.type("body", "end")
        self.assertEqual(self.tick()[0], ticks)
        self.browser.type("body", "home")
        self.assertEqual(self.tick()[0], 0)
        heading = lambda: self.browser.text("#details h2").removesuffix("\n×")
        self.browser.type("body", *"nnnnn")  # four ranks send at once, then rank 0 runs its second step
        self.assertEqual((heading(), self.tick()[0]), ("rank 0 · tb 0 · step 1", 1))
        self.browser.type("body", "p")
        self.assertEqual((heading(), self.tick()[0]), ("rank 3 · tb 0 · step 0", 0))
        self.browser.type("body", "escape")
        self.assertEqual(heading(), "Tick 0 · 4 steps at once")

    def test_dragging(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=4")
        _, ticks = self.tick()
        left, _, right, _ = self.box("#slider")
        self.browser.point(("#slider", 5 - (right - left) / 2), ("#slider",))
        self.assertAlmostEqual(self.tick()[0], ticks / 2, delta=1)
        self.browser.point(("#slider",), ("#slider", (right - left) / 2 - 2))
        self.assertEqual(self.tick()[0], ticks)
        # Each number of the timeline's axis is at its tick.
        labels = self.texts("svg.axis text")
        self.assertEqual(labels, [str(tick) for tick in range(ticks + 1)])
        place = lambda tick: (f"svg.axis text:nth-of-type({tick + 1})", 2)
        self.browser.point(place(1), place(3))
        self.assertEqual(self.tick()[0], 3)

    def test_pointing(self):
        self.open(self.write("relay.gc3", RELAY))
        steps = [line.strip() for line in gc3c(pathlib.Path(self.folder) / "relay.gc3", "--emit=gc3-ir").splitlines()]
        self.assertIn("0: rcs -> output[0..2]", steps)
        bar = next(i for i, name in enumerate(self.texts(".bar")) if name == "rcs")
        folder = pathlib.Path(self.folder).name
        self.browser.point((f".bar[data-step='{bar}'] rect",))
        self.assertEqual(self.tip(), ["rank 1 tb 0 step 0", "rcs → output[0..2]",
                                      "receive, copy, send on; channel 0, tick 1", f"{folder}/relay.gc3:6"])
        self.browser.point(("#facts",))
        self.assertEqual(self.tip(), [])
        cell = self.browser.run(
            "return [...document.querySelectorAll('.cell')].findIndex((c) => c.ariaLabel.startsWith('rank 1 output[1]'))")
        self.browser.point((f".cell[data-cell='{cell}']",))
        self.assertEqual(self.tip(), ["rank 1 output[1]", "nothing yet", "promised: 1 input slot"])
        self.browser.type("body", "end")
        self.browser.point(("#facts",))
        self.browser.point((f".cell[data-cell='{cell}']",))
        self.assertEqual(self.tip(), ["rank 1 output[1]", "holds 0:1", "from rank 1 tb 0 step 0, tick 1",
                                      "✓ as the collective promises"])

    def test_many_channels_leave_room(self):
        self.open(EXAMPLES / "ring_allreduce.gc3", "-DR=9", "-Dchannels=9")
        self.assertEqual(self.texts("#channels span"), [f"channel {c}" for c in range(9)])
        for width in (1400, 1280, 1000):
            with self.subTest(width):
                self.browser.size(width, 900)
                _, top, _, bottom = self.box("#play")
                middle = sum(self.box("#speed")[1::2]) / 2
                self.assertTrue(top < middle < bottom, "all of the player is in one row")

    def test_many_ranks_are_apart(self):
        for ranks in (100, 400, 1000):
            with self.subTest(ranks):
                self.open(EXAMPLES / "binomial_allreduce.gc3", f"-DR={ranks}")
                overlaps = self.browser.run("""
                    const boxes = [...document.querySelectorAll('.card')].map((card) => card.getBoundingClientRect());
                    return boxes.slice(1).filter((box, i) => box.left < boxes[i].right && box.top < boxes[i].bottom).length""")
                self.assertEqual(overlaps, 0)
                cut = self.browser.run("""
                    return [...document.querySelectorAll('.card h2')].filter((head) => {
                      const text = document.createRange();
                      text.selectNodeContents(head.lastChild);
                      return text.getBoundingClientRect().width > head.getBoundingClientRect().width;
                    }).length""")
                self.assertEqual(cut, 0)
                self.assertEqual(self.texts(".card h2")[-1], f"rank {ranks - 1}")

    def test_nothing_is_wider_than_the_window(self):
        for name, options in (("ring_allreduce", ["-DR=64"]), ("twostep_alltoall", ["-DG=4"])):
            self.open(EXAMPLES / f"{name}.gc3", *options)
            for width, height in ((1920, 1080), (1280, 720), (800, 1000), (500, 900)):
                with self.subTest(f"{name} {width}x{height}"):
                    self.browser.size(width, height)
                    self.assertTrue(self.browser.run("return document.documentElement.scrollWidth <= innerWidth"))


if __name__ == "__main__":
    pages.main()
