# SPDX-License-Identifier: Apache-2.0
"""Tests where the package finds libgc3 and the tools, and the errors if they are missing or do not fit."""

import os
import pathlib
import shutil

import pytest

import gc3
from gc3 import _library, _tools


@pytest.fixture(autouse=True)
def no_library_is_loaded():
    _library.library.cache_clear()
    yield
    _library.library.cache_clear()


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """An installation without libgc3 and tools, whose prefix is the test's folder."""
    monkeypatch.delenv("GC3_LIBRARY", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(_library, "build_folders", lambda: [])
    monkeypatch.setattr(_library, "prefix", lambda: tmp_path)
    return tmp_path


def test_missing_library(monkeypatch):
    monkeypatch.setenv("GC3_LIBRARY", "/missing/libgc3.so.0")
    with pytest.raises(gc3.LibraryError) as error:
        gc3.unique_id()
    assert str(error.value).startswith("cannot load libgc3 from GC3_LIBRARY: /missing/libgc3.so.0: ")
    assert str(error.value).endswith("; install the package 'libgc3-0', or set GC3_LIBRARY to the path of libgc3.so")


def test_library_of_the_loader(bare, monkeypatch):
    monkeypatch.setattr(_library, "_NAME", "libgc3-missing.so.0")
    with pytest.raises(gc3.LibraryError, match="cannot load libgc3 from the search path of the linker: "):
        gc3.unique_id()


def test_other_library(monkeypatch):
    monkeypatch.setenv("GC3_LIBRARY", "libc.so.6")
    with pytest.raises(gc3.LibraryError, match="'libc.so.6' is not the libgc3 of this package: .*gc3"):
        gc3.unique_id()


def test_library_of_another_version(monkeypatch):
    monkeypatch.setattr(_library, "VERSION", 10203)
    with pytest.raises(gc3.LibraryError, match="is libgc3 0.1.0, and this package needs 1.2.x; install both from one"):
        gc3.unique_id()


@pytest.mark.parametrize("folder", ["lib", "lib/x86_64-linux-gnu", "lib64"])
def test_library_and_tools_of_the_installation(bare, monkeypatch, folder):
    (bare / folder).mkdir(parents=True)
    (bare / folder / "libgc3.so.0").touch()
    assert next(_library._candidates()) == (str(bare / folder / "libgc3.so.0"), f"'{bare / folder}'")
    (bare / "bin").mkdir()
    (bare / "bin/gc3c").touch(mode=0o755)
    assert _tools.find("gc3c") == str(bare / "bin/gc3c")


def test_build_folders_are_those_of_the_checkout_newest_first(monkeypatch, tmp_path):
    package = tmp_path / "python/gc3/_library.py"
    package.parent.mkdir(parents=True)
    monkeypatch.setattr(_library, "__file__", str(package))
    assert _library.build_folders() == []
    (tmp_path / "runtime/include").mkdir(parents=True)
    (tmp_path / "runtime/include/gc3.h").touch()
    for seconds, name in ((1, "old"), (2, "new")):
        (tmp_path / "build" / name).mkdir(parents=True)
        (tmp_path / "build" / name / "CMakeCache.txt").touch()
        os.utime(tmp_path / "build" / name, (seconds, seconds))
    assert [folder.name for folder in _library.build_folders()] == ["new", "old"]


def test_tools_on_the_path_come_before_those_of_the_installation(bare, monkeypatch):
    for folder in ("first", "bin"):
        (bare / folder).mkdir()
        (bare / folder / "gc3c").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(bare / "first"))
    assert _tools.find("gc3c") == str(bare / "first/gc3c")
    shutil.rmtree(bare / "first")
    assert pathlib.Path(_tools.find("gc3c")).parent == bare / "bin"
