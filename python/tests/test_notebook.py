# SPDX-License-Identifier: Apache-2.0
"""Opens a bundle's output of a notebook cell in headless Chromium."""

import sys

import pytest
from conftest import RANKS, ROOT

sys.path.append(str(ROOT / "test/browser"))
import webdriver  # noqa: E402


def test_page_plays_in_a_frame(ring, tmp_path):
    missing = webdriver.missing()
    if missing:
        pytest.skip(f"no {', '.join(missing)}")
    page = tmp_path / "cell.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{ring._repr_html_()}</body>")
    with webdriver.Browser() as browser:
        browser.size(1400, 900)
        browser.open(page.as_uri())
        frame = "document.querySelector('iframe').contentDocument"
        clock = f"{frame}.querySelector('#clock')"
        browser.wait("the page", f"{frame} && {clock} && {clock}.textContent")
        assert browser.run(f"return {clock}.textContent").startswith("0 / ")
        browser.run(f"{frame}.querySelector('#last').click()")
        cells = browser.run(f"return [...{frame}.querySelectorAll('.cell')].map((cell) => cell.ariaLabel)")
        assert sum(" + " in str(cell) for cell in cells) >= RANKS * RANKS
        assert browser.console() == []
