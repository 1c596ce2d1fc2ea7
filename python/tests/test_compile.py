# SPDX-License-Identifier: Apache-2.0
"""Tests gc3.compile: errors as objects and text, and the cache of bundles."""

import json
import os
import pickle
import shutil
import subprocess
import sys

import pytest
from conftest import EXAMPLES

import gc3
from gc3 import _source, _tools

PAIR = """
param twice: bool = false;
program pair implements allreduce(ranks = 2, chunks = 1) {
    chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
}
"""
FORGETFUL = PAIR.replace(".copy(1, output, 0)", "")


@pytest.fixture
def runs(monkeypatch):
    """The command lines of gc3c that the test runs."""
    commands, run = [], _tools.run

    def record(name, arguments, *more):
        commands.append(list(arguments))
        return run(name, arguments, *more)

    monkeypatch.setattr(_tools, "run", record)
    return commands


def test_error_has_the_text_of_gc3c_and_objects(tmp_path):
    file = tmp_path / "pair.gc3"
    file.write_text(FORGETFUL)
    with pytest.raises(gc3.CompileError) as error:
        gc3.compile(file)
    done = subprocess.run([_tools.find("gc3c"), file], stderr=subprocess.PIPE, text=True, check=False)
    assert str(error.value) == done.stderr.rstrip()
    assert "        ^~~~" in str(error.value)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.severity, diagnostic.id) == ("error", "postcondition")
    assert diagnostic.message.startswith("'pair' does not do what 'allreduce' promises")
    assert diagnostic.place == gc3.Place(str(file), 3, 9, 3, 13)
    assert diagnostic.notes and all(isinstance(note, gc3.Note) for note in diagnostic.notes)
    assert diagnostic.notes[-1].place is None or diagnostic.notes[-1].place.file == str(file)
    copy = pickle.loads(pickle.dumps(error.value))
    assert (str(copy), copy.diagnostics) == (str(error.value), error.value.diagnostics)


def test_several_errors():
    with pytest.raises(gc3.CompileError) as error:
        gc3.compile("program p implements allreduce(ranks = x, chunks = y) { }")
    assert [(d.id, d.message) for d in error.value.diagnostics] == [("unknown-name", "unknown name 'x'"),
                                                                    ("unknown-name", "unknown name 'y'")]


def test_missing_file():
    with pytest.raises(gc3.CompileError, match="cannot read 'missing.gc3': No such file or directory") as error:
        gc3.compile("missing.gc3")
    assert [(d.id, d.place) for d in error.value.diagnostics] == [("cannot-read", None)]


@pytest.mark.parametrize("options, message", [
    ({"params": {"twice": 3}}, "twice"),
    ({"params": {"missing": 3}}, "missing"),
    ({"programs": "other"}, "other"),
])
def test_wrong_params_and_programs(options, message):
    with pytest.raises(gc3.CompileError, match=message):
        gc3.compile(PAIR, **options)


def test_wrong_options():
    with pytest.raises(gc3.ArgumentError, match="verify is 'fast', 'exact' or 'off', not 'slow'"):
        gc3.compile(PAIR, verify="slow")
    with pytest.raises(gc3.ToolError, match="fifo-slots"):
        gc3.compile(PAIR, fifo_slots=-1)


def test_missing_tool(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(gc3._library, "build_folders", lambda: [])
    with pytest.raises(gc3.ToolError, match="cannot find 'gc3c'; install the package 'gc3', or add"):
        gc3.compile(PAIR)


def test_params_have_the_types_of_the_language():
    text = """
        param R: int = 2; param wire: protocol = Simple; param name: string = "x"; param wide: bool = false;
        param sizes: [int] = [1]; param flags: [bool] = [];
        program p implements allgather(ranks = R) {
            assert wide && name == "y" && len(sizes) == 2 && flags[0];
            for r in 0..R { for q in 0..R { chunk(r, input, 0).copy(q, output, r); } }
        }"""
    bundle = gc3.compile(text, params={"R": 3, "wire": "LL", "name": "y", "wide": True, "sizes": [1, 2],
                                       "flags": (True, False)})
    assert bundle.programs[0].ranks == 3


def test_params_of_numpy():
    np = pytest.importorskip("numpy")
    text = """
        param R: int = 2; param wide: bool = false; param sizes: [int] = []; param flags: [bool] = [];
        param table: [[int]] = [];
        program p implements allgather(ranks = R) {
            assert wide && sizes == [0, 1, 2] && flags == [true, false] && table == [[1, 2], [3]];
            for r in 0..R { for q in 0..R { chunk(r, input, 0).copy(q, output, r); } }
        }"""
    params = {"R": np.int64(3), "wide": np.bool_(True), "flags": (np.bool_(True), False),
              "table": [np.array([1, 2]), range(3, 4)]}
    for sizes in (np.arange(3), range(3), [np.uint8(0), 1, np.int64(2)]):
        assert gc3.compile(text, params={**params, "sizes": sizes}).programs[0].ranks == 3


@pytest.mark.parametrize("value", [3.0, None, {}, b"3", [1.5], [[None]]])
def test_params_of_other_types(value):
    with pytest.raises(gc3.ArgumentError, match="a param is an int, a bool, a str or a list of these, not "):
        gc3.compile(PAIR, params={"twice": value})


def test_file_whose_name_is_like_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-x.gc3").write_text(PAIR)
    bundle = gc3.compile("-x.gc3")
    assert bundle.programs[0].name == "pair" and bundle.emit("gc3-ir").startswith("gc3-ir pair")
    for name in ("-", "--help"):
        with pytest.raises(gc3.CompileError, match=f"cannot read './{name}': No such file or directory"):
            gc3.compile(name)


def test_one_folder_of_imports(tmp_path):
    (tmp_path / "size.gc3").write_text("fn size() -> int { return 2; }")
    text = """
        import "size.gc3";
        program p implements allgather(ranks = size()) {
            for r in 0..2 { for q in 0..2 { chunk(r, input, 0).copy(q, output, r); } }
        }"""
    for include in (tmp_path, str(tmp_path), [tmp_path]):
        assert gc3.compile(text, include=include).programs[0].ranks == 2


def test_options_of_the_compiler():
    bundle = gc3.compile(PAIR, verify="off", max_threadblocks=4, fifo_slots=3)
    assert bundle.programs[0].proofs == ()
    assert gc3.compile(PAIR, verify="exact").programs[0].proofs == ("structure", "no deadlock", "postcondition",
                                                                     "no races")


def test_equal_text_is_compiled_once(runs):
    text = PAIR + "// test_equal_text_is_compiled_once"
    first, second = gc3.compile(text), gc3.compile(text)
    assert (len(runs), first.path) == (1, second.path)
    gc3.compile(text, params={"twice": True})
    assert len(runs) == 2


def test_changed_files_and_imports_are_compiled_again(tmp_path, runs):
    file, steps = tmp_path / "main program.gc3", tmp_path / "some steps.gc3"
    steps.write_text("fn ranks_of() -> int { return 2; }")
    file.write_text('import "some steps.gc3";\nprogram p implements allgather(ranks = ranks_of()) {\n'
                    "  for r in 0..ranks_of() { for q in 0..ranks_of() { chunk(r, input, 0).copy(q,output,r); }}\n}\n")
    assert [gc3.compile(file).programs[0].ranks for _ in range(2)] == [2, 2]
    assert len(runs) == 1
    steps.write_text("fn ranks_of() -> int { return 3; }")
    assert [gc3.compile(file).programs[0].ranks for _ in range(2)] == [3, 3]
    assert len(runs) == 2
    file.write_text(file.read_text().replace("program p", "program renamed"))
    assert gc3.compile(file).programs[0].name == "renamed"
    assert len(runs) == 3
    steps.unlink()
    with pytest.raises(gc3.CompileError, match="some steps.gc3"):
        gc3.compile(file)


def test_a_file_that_changes_during_the_compilation_is_not_kept(tmp_path, monkeypatch, runs):
    file = tmp_path / "pair.gc3"
    file.write_text(PAIR)
    monkeypatch.setattr(gc3._cache.time, "time", lambda: 0.0)
    assert gc3.compile(file).path == gc3.compile(file).path
    assert len(runs) == 2


def test_damaged_cache_is_repaired(cache, runs):
    text = PAIR + "// test_damaged_cache_is_repaired"
    gc3.compile(text)
    manifest = max(cache.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for damage in ("", "[]", '{"bundle": 3}', json.dumps({"bundle": "missing.gc3b", "files": {}})):
        manifest.write_text(damage)
        assert gc3.compile(text).programs[0].name == "pair"
    assert len(runs) == 5


def test_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert gc3.compile(PAIR).programs[0].name == "pair"
    assert os.listdir(tmp_path) == ["file"]


def test_many_processes_compile_the_same_text(cache, tmp_path):
    shutil.rmtree(cache)
    script = f"import gc3; print(gc3.compile({str(EXAMPLES / 'ring_allreduce.gc3')!r}, params={{'R': 5}}).path)"
    processes = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    paths = {process.communicate()[0] for process in processes}
    assert len(paths) == 1 and [process.returncode for process in processes] == [0] * 4
    assert sorted(path.suffix for path in cache.iterdir()) == [".gc3b", ".json"]


def test_rules_with_special_names():
    assert _source.prerequisites("out put.gc3b: \\\n  a\\ b.gc3 \\\n  cost$$.gc3 \\\n  c\\#.gc3\n") == \
        ["a b.gc3", "cost$.gc3", "c#.gc3"]
    assert _source.prerequisites("out.gc3b:\n") == []
