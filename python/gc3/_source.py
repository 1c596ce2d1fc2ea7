# SPDX-License-Identifier: Apache-2.0
"""The source of a bundle: a program's text or file, with the options of gc3c."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from . import _tools, errors


@dataclass(frozen=True)
class Source:
    """The input of gc3c. If ``text`` is None, it is the file ``name``, else ``name`` is ``-``.

    ``folder`` is the working folder, from which gc3c resolves relative paths. ``options`` are gc3c's.
    """

    name: str
    text: Optional[str]
    folder: str
    options: Tuple[str, ...]

    def run(self, arguments: Sequence[str]) -> str:
        """Runs gc3c on the source, and returns its standard output. Raises CompileError if gc3c reports errors."""
        command = [*self.options, *arguments, self.name]
        done = _tools.run("gc3c", [*command, "--diagnostics=json"], self.text, self.folder)
        if done.returncode == 0:
            return done.stdout
        if done.returncode != 1:
            raise errors.ToolError(done.stderr.strip() or f"'gc3c' ended with status {done.returncode}")
        lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
        text = _tools.run("gc3c", command, self.text, self.folder).stderr.rstrip()
        raise errors.CompileError(text, [errors.Diagnostic.from_json(json.loads(line)) for line in lines])

    def content(self) -> bytes:
        """Returns the bytes of the program. Raises CompileError with gc3c's text if the file cannot be read."""
        if self.text is not None:
            return self.text.encode()
        try:
            with open(os.path.join(self.folder, self.name), "rb") as file:
                return file.read()
        except OSError:
            self.run(["--emit=ast", "-o", os.devnull])
            raise

    def as_file(self, work: str) -> str:
        """Returns the name of a file with the program: the file itself, or one in the folder `work` with the text."""
        if self.text is None:
            return self.name
        path = os.path.join(work, "program.gc3")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        return path

    def digest(self) -> str:
        """Returns a hash of everything that determines gc3c's output, except the contents of imported files."""
        where = self.folder if self.text is not None else os.path.abspath(os.path.join(self.folder, self.name))
        parts = [_tools.identity("gc3c"), where, self.folder, *self.options]
        state = hashlib.sha256()
        for part in [*(part.encode() for part in parts), self.content()]:
            state.update(len(part).to_bytes(8, "little") + part)
        return state.hexdigest()


def prerequisites(rule: str) -> List[str]:
    r"""Returns the files on which the target of a make rule depends.

    >>> prerequisites('ring.gc3b: \\\n  ring.gc3 \\\n  my\\ steps.gc3\n')
    ['ring.gc3', 'my steps.gc3']
    """
    files, word, escaped = [], "", False
    text = re.split(r":\s", rule, maxsplit=1)[1].replace("\\\n", " ").replace("$$", "$")
    for letter in text + " ":
        if escaped or not (letter == "\\" or letter.isspace()):
            word, escaped = word + letter, False
        elif letter == "\\":
            escaped = True
        elif word:
            files.append(word)
            word = ""
    return files
