# SPDX-License-Identifier: Apache-2.0
"""Tests which arrays gc3 accepts, and what it reads from them."""

import array
import ctypes

import pytest

import gc3
from gc3 import _library, arrays

np = pytest.importorskip("numpy")

TYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
NUMBERS = {name[len("gc3"):].lower(): number for name, number in _library.TYPES.items()}


@pytest.mark.parametrize("dtype", TYPES)
def test_numpy_array(dtype):
    values = np.zeros((2, 3), dtype)
    view = arrays.view(values, "x")
    assert (view.pointer, view.shape, view.elements, view.type, view.device, view.writable) == \
        (values.ctypes.data, (2, 3), 6, NUMBERS[dtype], "cpu", True)


@pytest.mark.parametrize("dtype, number", [("bfloat16", 9), ("float8_e4m3fn", 10), ("float8_e5m2", 11)])
def test_numpy_array_of_ml_dtypes(dtype, number):
    types = pytest.importorskip("ml_dtypes")
    assert arrays.view(np.zeros(3, getattr(types, dtype)), "x").type == number


@pytest.mark.parametrize("code, dtype", [("b", "int8"), ("B", "uint8"), ("i", "int32"), ("I", "uint32"), ("l", "int64"),
                                         ("L", "uint64"), ("q", "int64"), ("Q", "uint64"), ("f", "float32"),
                                         ("d", "float64")])
def test_array_of_the_standard_library(code, dtype):
    values = array.array(code, [1, 2, 3])
    view = arrays.view(values, "x")
    assert (view.pointer, view.shape, view.dtype, view.writable) == (values.buffer_info()[0], (3,), dtype, True)


def test_buffers():
    view = arrays.view(b"abc", "x")
    assert (ctypes.string_at(view.pointer, view.elements), view.dtype, view.writable) == (b"abc", "uint8", False)
    assert arrays.view((ctypes.c_float * 3)(), "x").dtype == "float32"
    assert arrays.view(memoryview(bytearray(8)).cast("f"), "x").elements == 2


@pytest.mark.parametrize("values, error, message", [
    ([1, 2], gc3.ArgumentError, "x is a NumPy array, a PyTorch tensor or an object with the buffer protocol, not list"),
    ([[1], [2]], gc3.ArgumentError,
     "x is a NumPy array, a PyTorch tensor or an object with the buffer protocol, not list"),
    (np.zeros((4, 4))[:, 1], gc3.ArgumentError, "x is not contiguous: its elements have gaps or another order in "
     "memory; pass numpy.ascontiguousarray(x)"),
    (np.zeros((4, 4)).T, gc3.ArgumentError, "x is not contiguous: its elements have gaps or another order in memory; "
     "pass numpy.ascontiguousarray(x)"),
    (memoryview(bytes(8))[::2], gc3.ArgumentError, "x is not contiguous: its elements have gaps or another order in "
     "memory; pass a copy"),
    (np.zeros(3, ">f4"), gc3.ArgumentError, "x has elements of another byte order; pass "
     "x.astype(x.dtype.newbyteorder('='))"),
])
def test_arrays_that_gc3_rejects(values, error, message):
    with pytest.raises(error) as raised:
        arrays.view(values, "x")
    assert str(raised.value) == message


@pytest.mark.parametrize("values, dtype", [(np.zeros(3, bool), "bool"), (np.zeros(3, complex), "complex128"),
                                           (np.zeros(3, "i2"), "int16"), (array.array("h", [1]), "'h'"),
                                           (np.zeros(3, object), "object")])
def test_types_that_gc3_has_not(values, dtype):
    with pytest.raises(gc3.ArgumentError, match=f"x has elements of type {dtype}, and gc3 has int8, uint8, "):
        arrays.view(values, "x")


@pytest.mark.parametrize("like", [np.zeros(3, np.float16), array.array("d", [1]), memoryview(bytearray(3))])
def test_new_arrays_are_like_the_given_one(like):
    view = arrays.view(like, "x")
    new = arrays.view(arrays.empty(view, (2, 5)), "out")
    assert (new.dtype, new.shape, new.writable) == (view.dtype, (2, 5), True)
    assert arrays.view(arrays.empty(view, (0, 5)), "out").elements == 0


def test_new_scalar():
    assert arrays.view(arrays.empty(arrays.view(np.zeros(3), "x"), ()), "out").shape == ()


def test_reductions_of_pytorch():
    torch = pytest.importorskip("torch")
    names = ["SUM", "PRODUCT", "MAX", "MIN", "AVG"]
    assert [arrays.op_number(getattr(torch.distributed.ReduceOp, name)) for name in names] == [0, 1, 2, 3, 4]
    with pytest.raises(gc3.ArgumentError, match="op is one of"):
        arrays.op_number(torch.distributed.ReduceOp.BAND)


class TestTensors:
    torch = None

    @pytest.fixture(autouse=True)
    def import_torch(self):
        TestTensors.torch = pytest.importorskip("torch")

    @pytest.mark.parametrize("dtype, number", [("int8", 0), ("uint8", 1), ("int32", 2), ("int64", 4), ("float16", 6),
                                               ("float32", 7), ("float64", 8), ("bfloat16", 9), ("float8_e4m3fn", 10),
                                               ("float8_e5m2", 11)])
    def test_types(self, dtype, number):
        if not hasattr(self.torch, dtype):
            pytest.skip(f"PyTorch {self.torch.__version__} has no {dtype}")
        tensor = self.torch.empty(2, 3, dtype=getattr(self.torch, dtype))
        view = arrays.view(tensor, "x")
        assert (view.pointer, view.shape, view.type, view.device) == (tensor.data_ptr(), (2, 3), number, "cpu")
        new = arrays.empty(view, (4,))
        assert (new.dtype, tuple(new.shape)) == (tensor.dtype, (4,))

    def test_tensors_that_gc3_rejects(self):
        torch = self.torch
        for tensor, message in [
                (torch.zeros(2, 3).t(), "x is not contiguous: its elements have gaps or another order in memory; pass "
                 "x.contiguous()"),
                (torch.zeros(2, 3).to_sparse(), "x is a sparse tensor; pass a dense one"),
                (torch.zeros(2, device="meta"), "x is a meta tensor, which has no data"),
                (torch.zeros(2, dtype=torch.int16), "x has elements of type int16")]:
            with pytest.raises(gc3.ArgumentError) as error:
                arrays.view(tensor, "x")
            assert str(error.value).startswith(message)

    def test_a_host_communicator_refuses_tensors_of_other_devices(self, ring, monkeypatch):
        rank = gc3.Communicator.all_ranks(ring)[0]
        elsewhere = arrays.View(None, 0, (3,), "float32", "cuda:1", True)
        monkeypatch.setattr(arrays, "view", lambda array, name: elsewhere)
        with pytest.raises(gc3.ArgumentError) as error:
            rank.all_reduce(None)
        assert str(error.value) == ("x is on cuda:1, and this communicator runs on cpu; create the communicator by "
                                    "Communicator.from_nccl")
