# SPDX-License-Identifier: Apache-2.0
"""doc_links.py ROOT: fails if a link in a page has no target, or if docs/README.md or mkdocs.yml lacks a page.

An installed tree has no mkdocs.yml, and this check is skipped.
"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """Returns the fragments of links to the page's headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_nowhere(page, link):
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return not target.exists() or (anchor and anchor not in anchors(target))


root = pathlib.Path(sys.argv[1])
pages = sorted((root / "docs").glob("*.md"))
links = [(page, link) for page in [root / "README.md", *pages] for link in LINK.findall(page.read_text())
         if not link.startswith("http")]
wrong = [f"{page.relative_to(root)}: ({link}) leads nowhere" for page, link in links if leads_nowhere(page, link)]
listed = {link for page, link in links if page == root / "docs/README.md"}
wrong += [f"docs/README.md leaves out {page.name}" for page in pages if page.name not in listed | {"README.md"}]
if (root / "mkdocs.yml").exists():
    navigation = set(re.findall(r": (\S+\.md)$", (root / "mkdocs.yml").read_text(), re.M))
    wrong += [f"mkdocs.yml leaves out {page.name}" for page in pages if page.name not in navigation]
print("\n".join(wrong), end="\n" if wrong else "")
print(f"{len(pages)} pages, {len(links)} links, {len(wrong)} wrong")
sys.exit(bool(wrong))
