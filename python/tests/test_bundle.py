# SPDX-License-Identifier: Apache-2.0
"""Tests bundles: what they contain, what the tools show of them, and their errors."""

import html
import os
import pickle
import re
import shutil
import webbrowser

import pytest
from conftest import EXAMPLES, EVERYTHING, RANKS

import gc3
from gc3 import _tools


def needs(tool):
    """Skips the test if a build has no such tool."""
    try:
        _tools.find(tool)
    except gc3.ToolError:
        pytest.skip(f"this build has no {tool}")


def test_programs(everything):
    shift = next(program for program in everything.programs if program.name == "shift_by_two")
    assert shift == gc3.Program(
        name="shift_by_two", collective="shift", form="shift(n = 4, by = 2, chunks = 1)", ranks=4, min_bytes=0,
        max_bytes=None, in_place=False, proofs=("structure", "no deadlock", "postcondition", "no races"),
        digest=shift.digest)
    assert re.fullmatch("[0-9a-f]{16}", shift.digest)
    assert repr(everything).startswith("<gc3.Bundle of all_reduce (4 ranks), all_gather (4 ranks), ")


def test_sizes_of_programs():
    bundle = gc3.compile("""
        program p implements allgather(ranks = 1) { sizes 1KiB .. 1MiB; chunk(0, input, 0).copy(0, output, 0); }""")
    assert (bundle.programs[0].min_bytes, bundle.programs[0].max_bytes) == (1 << 10, 1 << 20)


def test_save_and_open(ring, tmp_path):
    ring.save(tmp_path / "ring.gc3b")
    saved = gc3.Bundle(tmp_path / "ring.gc3b")
    assert saved.programs == ring.programs
    assert [path.name for path in tmp_path.iterdir()] == ["ring.gc3b"]
    with pytest.raises(gc3.ResourceError, match="cannot copy '.*gc3b' to '.*/missing/ring.gc3b': No such file"):
        ring.save(tmp_path / "missing/ring.gc3b")


def test_pickle(ring):
    copy = pickle.loads(pickle.dumps(ring))
    assert (copy.programs, copy.emit("gc3-ir")) == (ring.programs, ring.emit("gc3-ir"))


def test_removed_cache(tmp_path, monkeypatch):
    needs("gc3-sim")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bundle = gc3.compile((EXAMPLES / "ring_allreduce.gc3").read_text(), params={"R": RANKS})
    state = pickle.dumps(bundle)
    size = {"min_bytes": 1024, "max_bytes": 1024}
    for use in (lambda: bundle.save(tmp_path / "saved.gc3b"), lambda: bundle.simulate("ring:4", **size), bundle.cost,
                lambda: bundle.emit("gc3-ir"), lambda: pickle.loads(state), lambda: pickle.loads(pickle.dumps(bundle))):
        shutil.rmtree(tmp_path / "gc3")
        use()
    assert gc3.Bundle(tmp_path / "saved.gc3b").programs == pickle.loads(state).programs == bundle.programs
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert bundle.emit("gc3-ir").startswith("gc3-ir ring_allreduce")
    assert bundle.path.startswith(str(tmp_path / "other"))


def test_removed_file_whose_source_has_changed(tmp_path):
    file = tmp_path / "ring.gc3"
    file.write_text((EXAMPLES / "ring_allreduce.gc3").read_text())
    bundle = gc3.compile(file, params={"R": 3})
    file.write_text(file.read_text().replace("program ring_allreduce", "program other"))
    os.remove(bundle.path)
    with pytest.raises(gc3.UsageError, match="ring.gc3' or an import has changed since gc3.compile: compile it again"):
        bundle.save(tmp_path / "saved.gc3b")
    assert os.listdir(tmp_path) == ["ring.gc3"]


def test_removed_file_without_source(ring, tmp_path):
    ring.save(tmp_path / "ring.gc3b")
    bundle = gc3.Bundle(tmp_path / "ring.gc3b")
    os.remove(bundle.path)
    with pytest.raises(gc3.ResourceError, match="cannot copy '.*/ring.gc3b' to '.*/copy.gc3b': No such file"):
        bundle.save(tmp_path / "copy.gc3b")


def test_relative_path_of_a_bundle(ring, tmp_path, monkeypatch):
    needs("gc3-sim")
    ring.save(tmp_path / "ring.gc3b")
    monkeypatch.chdir(tmp_path)
    bundle = gc3.Bundle("ring.gc3b")
    monkeypatch.chdir("/")
    assert bundle.path == str(tmp_path / "ring.gc3b")
    assert bundle.simulate("ring:4", max_bytes=1024)[0].program == "ring_allreduce"
    assert pickle.loads(pickle.dumps(bundle)).programs == ring.programs


def test_files_that_are_no_bundle(tmp_path):
    file = tmp_path / "text.gc3b"
    file.write_text("no bundle")
    with pytest.raises(gc3.BundleError, match="^'.*/text.gc3b': not a gc3 bundle: ") as error:
        gc3.Bundle(file)
    assert error.value.code == 11
    with pytest.raises(gc3.ResourceError, match="can't open '.*/missing.gc3b': No such file or directory"):
        gc3.Bundle(tmp_path / "missing.gc3b")


def test_cost(ring):
    (cost,) = ring.cost()
    assert (cost["name"], cost["ranks"], cost["path_messages"]) == ("ring_allreduce", RANKS, 2 * (RANKS - 1))
    assert "times" not in cost and len(ring.cost("ring:4")) == 1


@pytest.mark.parametrize("what, beginning", [
    ("ast", "program ring_allreduce"), ("chunk-dag", "chunk-dag"), ("inst-dag", "instruction-dag"),
    ("gc3-ir", "gc3-ir ring_allreduce implements allreduce ranks 4"), ("msccl-xml", "<algo "), ("dot", "digraph"),
    ("html", "<!DOCTYPE html>"),
])
def test_emit(ring, what, beginning):
    assert beginning in ring.emit(what)


def test_emit_of_one_program(everything):
    assert everything.emit("gc3-ir", "gather").count("implements") == 1
    with pytest.raises(gc3.CompileError, match="--program"):
        everything.emit("html")
    with pytest.raises(gc3.ArgumentError, match="the bundle has no program 'sort'; it has all_reduce, all_gather, "):
        everything.emit("gc3-ir", "sort")
    one = gc3.compile(EVERYTHING, programs="gather")
    assert one.emit("gc3-ir", "gather") == one.emit("gc3-ir")
    with pytest.raises(gc3.ArgumentError, match="gc3c emits ast, .*, not 'pdf'"):
        everything.emit("pdf")


def test_bundle_without_source(ring, tmp_path):
    ring.save(tmp_path / "ring.gc3b")
    with pytest.raises(gc3.UsageError, match="ring.gc3b' has no source: only bundles of gc3.compile have one"):
        gc3.Bundle(tmp_path / "ring.gc3b").cost()


def test_source_that_has_changed(tmp_path):
    file = tmp_path / "ring.gc3"
    file.write_text((EXAMPLES / "ring_allreduce.gc3").read_text())
    bundle = gc3.compile(file)
    file.write_text(file.read_text().replace("program ring_allreduce", "program other"))
    with pytest.raises(gc3.UsageError, match="ring.gc3' or an import has changed since gc3.compile: compile it again"):
        bundle.emit("gc3-ir")


def test_relative_path_in_another_folder(tmp_path, monkeypatch):
    (tmp_path / "ring.gc3").write_text((EXAMPLES / "ring_allreduce.gc3").read_text())
    monkeypatch.chdir(tmp_path)
    bundle = gc3.compile("ring.gc3")
    monkeypatch.chdir("/")
    assert bundle.emit("gc3-ir").startswith("gc3-ir ring_allreduce")


def test_page_in_a_notebook(ring):
    frame = ring._repr_html_()
    page = re.search(r'srcdoc="([^"]*)"', frame).group(1)
    assert html.unescape(page) == ring.emit("html")


def test_notebook_of_several_programs_shows_the_first(everything):
    assert 'title="all_reduce"' in everything._repr_html_()


def test_notebook_without_a_page(ring, tmp_path):
    ring.save(tmp_path / "ring.gc3b")
    assert "has no source" in gc3.Bundle(tmp_path / "ring.gc3b")._repr_html_()


def test_show_opens_the_page(ring, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    ring.show()
    (address,) = opened
    assert address.startswith("file:///") and open(address[len("file://"):]).read() == ring.emit("html")


def test_simulate(ring):
    needs("gc3-sim")
    times = ring.simulate("ring:4", min_bytes=1024, max_bytes=4096)
    assert [(time.bytes, time.collective, time.program) for time in times] == \
        [(size, "allreduce", "ring_allreduce") for size in (1024, 2048, 4096)]
    assert 0 < times[0].microseconds < times[-1].microseconds
    with pytest.raises(gc3.ToolError, match="moon"):
        ring.simulate("moon")


def test_tune(tmp_path):
    needs("gc3-tune")
    text = (EXAMPLES / "tunable_allreduce.gc3").read_text()
    sizes = {"min_bytes": 1 << 20, "max_bytes": 4 << 20}
    tuned = gc3.compile(text, params={"R": 8}).tune("dgx-h100", **sizes)
    assert {program.collective for program in tuned.programs} == {"allreduce"}
    assert tuned.programs == gc3.compile(EXAMPLES / "tunable_allreduce.gc3").tune("dgx-h100", **sizes).programs
    with pytest.raises(gc3.ToolError, match="moon"):
        gc3.compile(text).tune("moon")


def test_options_of_the_compiler_reach_tune(tmp_path):
    needs("gc3-tune")
    (tmp_path / "blocks.gc3").write_text("fn blocks() -> int { return 2; }")
    text = """
        import "blocks.gc3";
        param R: int = 2;
        program p implements allgather(ranks = R * blocks()) {
            for r in 0..R * blocks() { for q in 0..R * blocks() { chunk(r, input, 0).copy(q, output, r); } }
        }"""
    options = {"params": {"R": 4}, "include": [tmp_path], "max_threadblocks": 7}
    tuned = gc3.compile(text, verify="exact", **options).tune("dgx-h100", min_bytes=1024, max_bytes=2048)
    assert [program.ranks for program in tuned.programs] == [8]


def test_options_that_tune_does_not_have():
    for options, text in [({"programs": "gather"}, "--program=gather"), ({"fifo_slots": 3}, "--fifo-slots=3")]:
        with pytest.raises(gc3.ArgumentError) as error:
            gc3.compile(EVERYTHING, **options).tune("ring:4")
        assert str(error.value) == (f"the bundle was compiled with {text}, and gc3-tune has no such option: compile "
                                    "the bundle without it")


def test_synthesize():
    needs("gc3-synth")
    found = gc3.Bundle.synthesize("ring:4", "allgather")
    assert gc3.run(found, [[rank] for rank in range(4)]) == [[0, 1, 2, 3]] * 4
    assert found.cost()[0]["collective"] == "allgather"
    with pytest.raises(gc3.ToolError, match="no such program exists"):
        gc3.Bundle.synthesize("ring:4", "allgather", steps=1, rounds=1)


def test_text_and_file_make_the_same_programs(tmp_path, everything):
    (tmp_path / "everything.gc3").write_text(EVERYTHING)
    bundle = gc3.compile(tmp_path / "everything.gc3", params={"root": 1})
    assert bundle.programs == everything.programs
