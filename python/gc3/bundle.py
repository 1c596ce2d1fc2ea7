# SPDX-License-Identifier: Apache-2.0
"""Bundles: files with the compiled programs of collectives."""

from __future__ import annotations

import ctypes
import html
import json
import os
import pathlib
import shutil
import tempfile
import webbrowser
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _cache, _library, _tools, errors
from ._source import Source

StrPath = Union[str, "os.PathLike[str]"]

_PROOFS = ("structure", "no deadlock", "postcondition", "no races")
_NO_LIMIT = 2**64 - 1


@dataclass(frozen=True)
class Program:
    """A program of a bundle.

    Sizes are bytes of the larger of one rank's input and output. ``max_bytes`` is exclusive; None means no limit.
    ``form`` is the collective with its arguments, such as ``"shift(n = 4, by = 1)"``. ``proofs`` are the properties
    that the compiler has proved. ``nodes`` is the number of nodes that the program is for; None means any.
    """

    name: str
    collective: str
    form: str
    ranks: int
    min_bytes: int
    max_bytes: Optional[int]
    in_place: bool
    proofs: Tuple[str, ...]
    digest: str
    nodes: Optional[int] = None


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a call on a machine: ``bytes`` of the larger of one rank's input and output, and the time
    in ``microseconds`` of ``program``."""

    bytes: int
    microseconds: float
    collective: str
    program: str


def _program(info: _library.ProgramInfo) -> Program:
    return Program(
        name=info.name.decode(), collective=info.collective.decode(), form=info.form.decode(), ranks=info.ranks,
        min_bytes=info.minBytes, max_bytes=None if info.maxBytes == _NO_LIMIT else info.maxBytes,
        in_place=bool(info.inPlace), proofs=tuple(name for bit, name in enumerate(_PROOFS) if info.verified >> bit & 1),
        digest=f"{info.digest:016x}", nodes=info.nodes or None)


class Bundle:
    """The compiled programs of a file.

    :func:`gc3.compile` makes bundles; ``Bundle(path)`` opens a ``.gc3b`` file. Such a file must not change while the
    bundle is in use. Raises BundleError if the file is no valid bundle.

    Attributes:
        programs: the programs, in the order of the file.
        source: what :func:`gc3.compile` has compiled; None for other bundles.
    """

    def __init__(self, path: StrPath, source: Optional[Source] = None):
        self._path = os.path.abspath(path)
        self.source = source
        self._handle = ctypes.c_void_p()
        self._library = _library.library()
        try:
            self._library.call("gc3BundleLoad", self._handle, os.fsencode(self.path))
        except errors.BundleError as error:
            raise errors.BundleError(f"'{self.path}': {error}", error.code) from None
        self.programs = self._read_programs()

    def _read_programs(self) -> Tuple[Program, ...]:
        count = ctypes.c_int()
        self._library.call("gc3BundleProgramCount", self._handle, count)
        programs = []
        for index in range(count.value):
            info = _library.ProgramInfo(size=ctypes.sizeof(_library.ProgramInfo))
            self._library.call("gc3BundleProgramInfo", self._handle, index, info)
            programs.append(_program(info))
        return tuple(programs)

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            self._library.result("gc3BundleFree", handle)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Bundle, (self._path, self.source)

    def __repr__(self) -> str:
        return f"<gc3.Bundle of {', '.join(f'{program.name} ({program.ranks} ranks)' for program in self.programs)}>"

    @property
    def path(self) -> str:
        """The ``.gc3b`` file. If it has been removed, the source is compiled again."""
        if self.source is not None and not os.path.exists(self._path):
            self._path = self._compile_again(self.source)
        return self._path

    def _compile_again(self, source: Source) -> str:
        """Returns the path of the source's bundle. Raises UsageError if it is another bundle than this one."""
        path = _cache.bundle_of(source)
        if os.path.basename(path) != os.path.basename(self._path):  # names of files in the cache are hashes of them
            raise errors.UsageError(f"'{source.name}' or an import has changed since gc3.compile: compile it again")
        return path

    @property
    def handle(self) -> ctypes.c_void_p:
        """The ``gc3Bundle_t``. It belongs to this object."""
        return self._handle

    def elements(self, index: int, rank: int, count: int) -> Tuple[int, int]:
        """Returns the numbers of elements of a rank's input and output in program `index`, for `count` per block."""
        inputs, outputs = ctypes.c_size_t(), ctypes.c_size_t()
        self._library.call("gc3ProgramElements", self._handle, index, rank, count, inputs, outputs)
        return inputs.value, outputs.value

    def save(self, path: StrPath) -> None:
        """Copies the bundle to a file, for example for ``GC3_BUNDLES``. Replaces the file at once, or not at all."""
        source, target = self.path, os.fspath(path)
        temporary = f"{target}.{os.getpid()}.tmp"
        try:
            shutil.copyfile(source, temporary)
            os.replace(temporary, target)
        except OSError as reason:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise errors.ResourceError(f"cannot copy '{source}' to '{target}': {reason.strerror}") from reason

    # ---- What the compiler shows ----

    def cost(self, topology: Optional[str] = None) -> List[Dict[str, Any]]:
        """Returns the costs of each program, as ``gc3c --cost=json`` prints them: messages, steps, thread blocks and
        lower bounds. With a topology, also times in microseconds on this machine.
        """
        options = ["--cost=json"] + ([f"--topology={topology}"] if topology is not None else [])
        programs: List[Dict[str, Any]] = json.loads(self._compiled(options))["programs"]
        return programs

    def emit(self, what: str, program: Optional[str] = None) -> str:
        """Returns a text that gc3c makes of the source: ``"ast"``, ``"chunk-dag"``, ``"inst-dag"``, ``"gc3-ir"``,
        ``"msccl-xml"``, ``"dot"`` or ``"html"``. The last three need `program` if the bundle has several.
        """
        kinds = ("ast", "chunk-dag", "inst-dag", "gc3-ir", "msccl-xml", "dot", "html")
        if what not in kinds:
            raise errors.ArgumentError(f"gc3c emits {', '.join(kinds)}, not {what!r}")
        names = [known.name for known in self.programs]
        if program is not None and program not in names:
            raise errors.ArgumentError(f"the bundle has no program '{program}'; it has {', '.join(names)}")
        choice = [f"--program={program}"] if program is not None and len(names) > 1 else []
        return self._compiled([f"--emit={what}", "-o", "-", *choice])

    def show(self, program: Optional[str] = None) -> None:
        """Opens the page that plays a program in a browser. `program` is needed if the bundle has several."""
        page = self.emit("html", program)
        with tempfile.NamedTemporaryFile("w", prefix="gc3-", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(page)
        webbrowser.open(pathlib.Path(file.name).as_uri())

    def _repr_html_(self) -> str:
        """Returns the page of the first program, for a notebook; only the list of programs if there is no page."""
        heading = html.escape(repr(self))
        try:
            page = self.emit("html", self.programs[0].name)
        except errors.Error as error:
            return f"<p>{heading}</p><p>{html.escape(str(error))}</p>"
        return (f'<p>{heading}</p><iframe srcdoc="{html.escape(page)}" title="{html.escape(self.programs[0].name)}" '
                'width="100%" height="700" style="border: 1px solid gray"></iframe>')

    def _compiled(self, arguments: List[str]) -> str:
        return self._unchanged_source().run(arguments)

    def _unchanged_source(self) -> Source:
        """Returns the source. Raises UsageError if there is none, or if it has changed since it was compiled."""
        if self.source is None:
            raise errors.UsageError(f"'{self.path}' has no source: only bundles of gc3.compile have one")
        self._path = self._compile_again(self.source)
        return self.source

    # ---- Other tools ----

    def simulate(self, topology: str, *, min_bytes: int = 1024, max_bytes: int = 64 << 20, factor: int = 2,
                 program: Optional[str] = None) -> List[Prediction]:
        """Predicts the times of calls on a machine.

        `topology` is a name that ``gc3-sim --list-topologies`` prints, or a file. Sizes in bytes grow from `min_bytes`
        to `max_bytes` by `factor`. `program` is the program at all sizes; by default the one that the runtime chooses.
        """
        options = [f"--topology={topology}", "-b", str(min_bytes), "-e", str(max_bytes), "-f", str(factor), "--json=-"]
        options += [f"--program={program}"] if program is not None else []
        rows = json.loads(_tools.output("gc3-sim", [*options, self.path]))["rows"]
        return [Prediction(row["size"], row["time"], row["collective"], row["program"]) for row in rows]

    def tune(self, topology: Optional[str] = None, *, measure: Optional[str] = None, min_bytes: int = 1024,
             max_bytes: int = 1 << 30, programs: int = 4) -> Bundle:
        """Returns a bundle of the fastest programs for each range of sizes, at most `programs` for each collective.

        The candidates are all programs of this bundle's source with all values of its knobs: params that list their
        values. Times are predictions for `topology`, or measurements on this machine if `measure` is ``"host"`` or
        ``"cuda"``. Raises ArgumentError if the bundle was compiled with ``programs`` or ``fifo_slots``, which gc3-tune
        does not have. gc3-tune proves all programs as ``verify="fast"`` does.
        """
        source = self._unchanged_source()
        options = _options_of_tune(source)
        options += [f"--topology={topology}"] if topology is not None else []
        options += [f"--measure={measure}"] if measure is not None else []
        options += ["-b", str(min_bytes), "-e", str(max_bytes), f"--programs={programs}", "-q"]
        with tempfile.TemporaryDirectory(prefix="tune-", dir=_cache.folder()) as work:
            tuned = os.path.join(work, "tuned.gc3b")
            file = source.as_file(work)
            _tools.output("gc3-tune", [*options, f"-I{source.folder}", "-o", tuned, file], folder=source.folder)
            return Bundle(_cache.add(tuned))

    @classmethod
    def synthesize(cls, topology: str, collective: str, *, chunks: Optional[int] = None, steps: Optional[int] = None,
                   rounds: Optional[int] = None, root: Optional[int] = None,
                   time_limit: Optional[float] = None) -> Bundle:
        """Finds a program of a collective for a machine by gc3-synth, and compiles it.

        Without `steps` and `rounds`, a search returns a program with few rounds. With them, a solver finds a program
        with these numbers, or proves that there is none, which raises ToolError. `time_limit` is in seconds.
        """
        given = {"chunks": chunks, "steps": steps, "rounds": rounds, "root": root, "time-limit": time_limit}
        options = [f"--topology={topology}", f"--collective={collective}", "--quiet"]
        options += [f"--{name}={value}" for name, value in given.items() if value is not None]
        source = Source("-", _tools.output("gc3-synth", options), os.getcwd(), ())
        return cls(_cache.bundle_of(source), source)


def _options_of_tune(source: Source) -> List[str]:
    """Returns the options of a source for gc3-tune. Raises ArgumentError if gc3-tune does not have one of them."""
    options = [option for option in source.options if not option.startswith("--verify=")]
    missing = [option for option in options if not option.startswith(("-D", "-I", "--max-threadblocks="))]
    if missing:
        raise errors.ArgumentError(f"the bundle was compiled with {' and '.join(missing)}, and gc3-tune has no such "
                                   "option: compile the bundle without it")
    return options


def open_bundle(bundle: Union[Bundle, StrPath]) -> Bundle:
    """Returns the bundle itself, or opens the ``.gc3b`` file."""
    return bundle if isinstance(bundle, Bundle) else Bundle(bundle)
