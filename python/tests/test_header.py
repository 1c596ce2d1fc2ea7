# SPDX-License-Identifier: Apache-2.0
"""Compares the declarations of gc3._library with gc3.h: names, values, layouts of structs and types of functions."""

import ctypes
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

import gc3
from gc3 import _library

HEADER = ROOT / "runtime/include/gc3.h"
ENUMS = {"gc3Result_t": _library.RESULTS, "gc3DataType_t": _library.TYPES, "gc3RedOp_t": _library.REDUCTIONS,
         "gc3Tune_t": _library.TUNES, "gc3Order_t": _library.ORDERS}
C_TYPES = {ctypes.c_void_p: "pointer", ctypes.c_char_p: "pointer", ctypes.c_int: "int", ctypes.c_size_t: "size_t",
           _library.UniqueId: "gc3UniqueId_t"}


def plain_text():
    """Returns the header without comments and line breaks."""
    return " ".join(re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL).split())


def c_output(tmp_path, statements):
    """Returns the numbers that a C program prints."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "print.c"
    source.write_text('#include <gc3.h>\n#include <stdio.h>\nint main(void) {\n' + "\n".join(statements) + "\n}\n")
    subprocess.run([compiler, f"-I{HEADER.parent}", source, "-o", tmp_path / "print"], check=True)
    lines = subprocess.run([tmp_path / "print"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return {name: int(value) for name, value in (line.split() for line in lines)}


def kind(parameter):
    """Returns the kind of a parameter of the header: pointer, int, size_t, or the name of a struct."""
    handles = ("gc3Bundle_t", "gc3Comm_t", "gc3Stream_t")
    words = parameter.replace("const ", "").split()
    if "*" in parameter or words[0] in handles:
        return "pointer"
    return "int" if words[0] in ENUMS or words[0] == "int" else words[0]


def test_values_of_enumerations(tmp_path):
    expected = {name: value for names in ENUMS.values() for name, value in names.items()}
    assert c_output(tmp_path, [f'printf("{name} %d\\n", (int){name});' for name in expected]) == expected


@pytest.mark.parametrize("enum", ENUMS)
def test_names_of_enumerations(enum):
    body = re.search(r"typedef enum GC3_ENUM_TYPE \{([^}]*)\} " + enum, plain_text()).group(1)
    names = [item.split("=")[0].strip() for item in body.split(",")]
    assert [name for name in names if not name.startswith("gc3Num")] == list(ENUMS[enum])


@pytest.mark.parametrize("name", _library.STRUCTS)
def test_layout_of_structs(tmp_path, name):
    struct = _library.STRUCTS[name]
    expected = {field: getattr(struct, field).offset for field, _ in struct._fields_}
    statements = [f'printf("{field} %zu\\n", offsetof({name}, {field}));' for field in expected]
    assert c_output(tmp_path, statements) == expected
    assert c_output(tmp_path, [f'printf("size %zu\\n", sizeof({name}));']) == {"size": ctypes.sizeof(struct)}


def test_types_of_functions():
    declared = dict(re.findall(r"GC3_API gc3Result_t (\w+)\((.*?)\);", plain_text()))
    for name, arguments in _library.FUNCTIONS.items():
        expected = [kind(parameter.strip()) for parameter in declared[name].split(",") if parameter.strip() != "void"]
        assert [C_TYPES.get(argument, "pointer") for argument in arguments] == expected, name


def test_version_is_that_of_the_header_and_the_package(tmp_path):
    assert c_output(tmp_path, ['printf("version %d\\n", GC3_VERSION);']) == {"version": _library.VERSION}
    assert gc3.__version__ == _library.version_text(_library.VERSION)


def test_each_result_code_has_its_exception():
    classes = {name: type(_library.error_of(code, "text")) for name, code in _library.RESULTS.items()}
    bundle_errors = [name for name, error in classes.items() if error is gc3.BundleError]
    assert bundle_errors == ["gc3NotABundle", "gc3BundleTruncated", "gc3BundleTooNew", "gc3BundleCorrupt",
                             "gc3BundleInvalid", "gc3BundleUnproven"]
    del classes["gc3Success"], classes["gc3InProgress"]
    others = [error for error in classes.values() if error is not gc3.BundleError]
    assert len(set(others)) == len(others)
