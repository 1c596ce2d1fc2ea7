# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs.yml. The pages are also readable as plain files, and the hooks adapt them for the site.

README.md and CONTRIBUTING.md in the repository's root become pages. Linked files outside docs/ become files of the
site. A link to a folder becomes text. The first line of a code block keeps only the language. Its other words are for
`test/doc_blocks.py`.
"""
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = {"introduction.md": "README.md", "contributing.md": "CONTRIBUTING.md"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
OUTSIDE = re.compile(r"\]\(\.\./([^)\s#]+)")


def on_files(files, config):
    def add(path, source):
        file = File(path, str(ROOT), config["site_dir"], config["use_directory_urls"])
        file.abs_src_path = str(source)
        files.append(file)

    for path, source in [*PAGES.items(), ("site.css", "scripts/site.css")]:
        add(path, ROOT / source)
    texts = [page.read_text() for page in (ROOT / "docs").glob("*.md")]
    for path in sorted({path for text in texts for path in OUTSIDE.findall(text)}):
        if (ROOT / path).is_file() and path not in PAGES.values():
            add(path, ROOT / path)
    files.remove(files.get_file_from_path("pictures.sh"))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = ROOT if page.file.src_uri in PAGES else ROOT / "docs"
    pages = {source: name for name, source in PAGES.items()}

    def on_site(match):
        bang, text, link, anchor = match.groups(default="")
        if "://" in link:
            return match[0]
        target = (folder / link).resolve()
        if target.is_dir():
            return text
        path = target.relative_to(ROOT).as_posix()
        return f"{bang}[{text}]({pages.get(path, path.removeprefix('docs/'))}{anchor})"

    parts = re.split(r"^(```.*?^```)$", markdown, flags=re.S | re.M)
    parts[::2] = (LINK.sub(on_site, part) for part in parts[::2])
    parts[1::2] = (re.sub(r"\A```(\w[\w-]*)[^\n]*", r"```\1", part) for part in parts[1::2])
    return "".join(parts)
