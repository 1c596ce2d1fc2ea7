# SPDX-License-Identifier: Apache-2.0
"""Tests gc3.run: all ranks in this process, on lists, NumPy arrays and PyTorch tensors."""

import array

import pytest
from conftest import RANKS

import gc3

TYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


def test_lists(everything):
    outputs = gc3.run(everything, [[rank + 1] * RANKS for rank in range(RANKS)], "all_reduce")
    assert outputs == [[10] * RANKS] * RANKS and isinstance(outputs[0][0], int)
    outputs = gc3.run(everything, [[0.5] * RANKS] * RANKS, "all_reduce")
    assert outputs == [[2.0] * RANKS] * RANKS
    assert gc3.run(everything, [[rank] for rank in range(RANKS)], "all_gather") == [list(range(RANKS))] * RANKS


def test_lists_of_numbers_of_numpy(everything):
    np = pytest.importorskip("numpy")
    outputs = gc3.run(everything, [[np.int32(rank)] for rank in range(RANKS)], "all_gather")
    assert outputs == [list(range(RANKS))] * RANKS and isinstance(outputs[0][0], int)


def test_arrays_of_the_standard_library(everything):
    inputs = [array.array("d", [rank, 1]) for rank in range(RANKS)]
    outputs = gc3.run(everything, inputs, "shift_by_two")
    assert [output.tolist() for output in outputs[2:]] == [[0, 1], [1, 1]]
    assert inputs == [array.array("d", [rank, 1]) for rank in range(RANKS)]


@pytest.mark.parametrize("dtype", TYPES)
def test_all_types_of_numpy(ring, dtype):
    np = pytest.importorskip("numpy")
    inputs = [np.arange(16, dtype=dtype).reshape(2, 8) + np.array(rank, dtype) for rank in range(RANKS)]
    outputs = gc3.run(ring, inputs)
    assert [output.dtype for output in outputs] == [dtype] * RANKS
    for output in outputs:
        np.testing.assert_array_equal(output, sum(inputs))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float32", "float64", "bfloat16",
                                   "float8_e4m3fn", "float8_e5m2"])
def test_all_types_of_pytorch(ring, dtype):
    torch = pytest.importorskip("torch")
    if not hasattr(torch, dtype):
        pytest.skip(f"PyTorch {torch.__version__} has no {dtype}")
    inputs = [(torch.arange(8) % 3 + rank).to(getattr(torch, dtype)) for rank in range(RANKS)]
    outputs = gc3.run(ring, inputs, op="max")
    for output in outputs:
        assert output.dtype == inputs[0].dtype and torch.equal(output.float(), inputs[-1].float())


@pytest.mark.parametrize("op, expected", [("sum", 10), ("prod", 24), ("max", 4), ("min", 1), ("avg", 2.5)])
def test_reductions(ring, op, expected):
    assert gc3.run(ring, [[rank + 1.0] * RANKS for rank in range(RANKS)], op=op) == [[expected] * RANKS] * RANKS


def test_ranks_without_input_or_output(everything):
    outputs = gc3.run(everything, [None, [1.0, 2.0], None, None], "broadcast")
    assert outputs == [[1.0, 2.0]] * RANKS
    assert gc3.run(everything, [[rank] for rank in range(RANKS)], "gather") == [None, [0, 1, 2, 3], None, None]


def test_path_of_a_bundle(ring, tmp_path):
    ring.save(tmp_path / "ring.gc3b")
    assert gc3.run(tmp_path / "ring.gc3b", [[1] * RANKS] * RANKS) == [[RANKS] * RANKS] * RANKS


@pytest.mark.parametrize("inputs, options, error, message", [
    ([[1]] * 4, {}, gc3.ArgumentError, "program is missing: the bundle has 'all_reduce' (4 ranks), "),
    ([[1]] * 4, {"program": "sort"}, gc3.NoProgramError,
     "the bundle has no program 'sort' for 4 ranks, the number of inputs; it has 'all_reduce' (4 ranks), "),
    ([[1]] * 3, {}, gc3.NoProgramError, "the bundle has no program for 3 ranks, the number of inputs; it has "),
    ([[1], [1], [1, 2], [1]], {"program": "all_gather"}, gc3.ArgumentError,
     "inputs[2] has 2 elements (shape (2,) of int64 on cpu), and needs 1: 1 blocks, each as large as those of inputs[0]"
     ),
    ([[1], [1.0], [1], [1]], {"program": "all_gather"}, gc3.ArgumentError,
     "inputs[0] has elements of type int64, and inputs[1] of type float32; they must have the same type"),
    ([[1, 2]] * 4, {"program": "all_to_all"}, gc3.ArgumentError,
     "inputs[0] has 2 elements (shape (2,) of int64 on cpu), which is not a multiple of its 4 blocks"),
    ([[1], None, [1], [1]], {"program": "all_gather"}, gc3.ArgumentError, "inputs[1] is None, and rank 1 has an input"),
    ([[1]] * 4, {"program": "all_gather", "op": "median"}, gc3.ArgumentError, "op is one of sum, "),
    (["text"] * 4, {"program": "all_gather"}, gc3.ArgumentError, "inputs[0] is a NumPy array, a PyTorch tensor or "),
    ([[1], [[1]], [1], [1]], {"program": "all_gather"}, gc3.ArgumentError, "inputs[1] has an element that is no 64-bit "
     "integer and no float: must be real number, not list; pass a NumPy array for several dimensions"),
    ([[2**63], [1], [1], [1]], {"program": "all_gather"}, gc3.ArgumentError,
     "inputs[0] has an element that is no 64-bit integer and no float: "),
])
def test_wrong_inputs(everything, inputs, options, error, message):
    with pytest.raises(error) as raised:
        gc3.run(everything, inputs, **options)
    assert str(raised.value).startswith(message)


def test_an_error_leaves_no_open_group(everything):
    with pytest.raises(gc3.ArgumentError):
        gc3.run(everything, [[1]] * 4, "all_gather", op="median")
    assert gc3.run(everything, [[1]] * 4, "all_gather") == [[1] * 4] * 4


def test_unproven_programs():
    text = "program copy implements allgather(ranks = 1) { chunk(0, input, 0).copy(0, output, 0); }"
    bundle = gc3.compile(text, verify="off")
    with pytest.raises(gc3.BundleError, match="proof|proven|verif") as error:
        gc3.run(bundle, [[1]])
    assert error.value.code == 16
    assert gc3.run(bundle, [[1]], config=gc3.Config(allow_unproven=True)) == [[1]]
