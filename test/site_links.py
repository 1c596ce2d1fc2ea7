# SPDX-License-Identifier: Apache-2.0
"""site_links.py SITE: fails if a link or an image of the built site has no target: a missing file or anchor.

Does not follow external links.
"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


site = pathlib.Path(sys.argv[1]).resolve()
pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
wrong, count = [], 0
for path, page in pages.items():
    for link in page.links:
        url = urllib.parse.urlsplit(link)
        if url.scheme or url.netloc:
            continue
        count += 1
        target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
        target = target / "index.html" if target.is_dir() else target
        anchor = urllib.parse.unquote(url.fragment)
        if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
            wrong.append(f"{path.relative_to(site)}: {link} leads nowhere")
print("\n".join(wrong), end="\n" if wrong else "")
print(f"{len(pages)} pages, {count} links, {len(wrong)} wrong")
sys.exit(not pages or bool(wrong))
