# SPDX-License-Identifier: Apache-2.0
"""Runs each collective on all ranks of this process, in place and not, and compares all elements with NumPy."""

import array
import copy
import pickle
import threading

import pytest
from conftest import RANKS

import gc3

np = pytest.importorskip("numpy")
ROOT = 1


def inputs(*shape):
    """Returns a different array for each rank."""
    return [np.random.default_rng(rank).integers(-50, 50, shape).astype(np.float32) for rank in range(RANKS)]


def together(ranks, call):
    """Makes the call of each rank in one group. Returns the results by rank."""
    with gc3.group():
        return [call(rank) for rank in ranks]


def assert_equal(outputs, expected):
    assert len(outputs) == len(expected)
    for output, values in zip(outputs, expected):
        np.testing.assert_array_equal(output, values)


def test_all_reduce_in_place(ranks):
    data = inputs(3, 4)
    expected = sum(data)
    results = together(ranks, lambda rank: rank.all_reduce(data[rank.rank]))
    assert all(result is array for result, array in zip(results, data))
    assert_equal(data, [expected] * RANKS)


@pytest.mark.parametrize("op, expected", [("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min),
                                          ("avg", np.mean)])
def test_all_reduce_out_of_place(ranks, op, expected):
    data, before = inputs(8), inputs(8)
    outputs = [np.empty(8, np.float32) for _ in ranks]
    together(ranks, lambda rank: rank.all_reduce(data[rank.rank], outputs[rank.rank], op))
    assert_equal(outputs, [expected(before, axis=0)] * RANKS)
    assert_equal(data, before)


def test_all_gather(ranks):
    data = inputs(2, 3)
    outputs = together(ranks, lambda rank: rank.all_gather(data[rank.rank]))
    assert_equal(outputs, [np.concatenate(data)] * RANKS)


def test_all_gather_of_scalars(ranks):
    data = inputs()
    data = [np.asarray(value) for value in data]
    outputs = together(ranks, lambda rank: rank.all_gather(data[rank.rank]))
    assert_equal(outputs, [np.stack(data)] * RANKS)


def test_all_gather_in_place(ranks):
    data = inputs(2, 3)
    outputs = [np.zeros((RANKS, 2, 3), np.float32) for _ in ranks]
    for output, values, rank in zip(outputs, data, range(RANKS)):
        output[rank] = values
    together(ranks, lambda rank: rank.all_gather(outputs[rank.rank][rank.rank], outputs[rank.rank]))
    assert_equal(outputs, [np.stack(data)] * RANKS)


def test_reduce_scatter(ranks):
    data = inputs(2 * RANKS, 3)
    outputs = together(ranks, lambda rank: rank.reduce_scatter(data[rank.rank]))
    assert_equal(outputs, list(sum(data).reshape(RANKS, 2, 3)))


def test_reduce_scatter_in_place(ranks):
    data = inputs(RANKS, 5)
    expected = np.max(data, axis=0)
    outputs = together(ranks, lambda rank: rank.reduce_scatter(data[rank.rank], data[rank.rank][rank.rank], "max"))
    assert_equal(outputs, list(expected))


def test_broadcast(ranks):
    data, before = inputs(7), inputs(7)
    outputs = together(ranks, lambda rank: rank.broadcast(data[rank.rank], np.empty(7, np.float32), ROOT))
    assert_equal(outputs, [before[ROOT]] * RANKS)
    assert_equal(data, before)


def test_broadcast_in_place(ranks):
    data, before = inputs(7), inputs(7)
    together(ranks, lambda rank: rank.broadcast(data[rank.rank], root=ROOT))
    assert_equal(data, [before[ROOT]] * RANKS)


def test_reduce(ranks):
    data, before = inputs(7), inputs(7)
    output = np.empty(7, np.float32)
    results = together(ranks, lambda rank: rank.reduce(data[rank.rank], output if rank.rank == ROOT else None,
                                                       root=ROOT))
    assert [result is output for result in results] == [rank == ROOT for rank in range(RANKS)]
    assert_equal([output, *data], [sum(before), *before])


def test_reduce_in_place(ranks):
    data, before = inputs(7), inputs(7)
    results = together(ranks, lambda rank: rank.reduce(data[rank.rank], root=ROOT))
    assert results == [None, pytest.approx(sum(before)), None, None]
    assert_equal(data, [before[0], sum(before), before[2], before[3]])


def test_all_to_all(ranks):
    data = inputs(2 * RANKS)
    outputs = together(ranks, lambda rank: rank.all_to_all(data[rank.rank]))
    assert_equal(outputs, list(np.stack(data).reshape(RANKS, RANKS, 2).swapaxes(0, 1).reshape(RANKS, 2 * RANKS)))


def test_all_to_all_in_place(ranks):
    data, before = inputs(RANKS, 3), inputs(RANKS, 3)
    together(ranks, lambda rank: rank.all_to_all(data[rank.rank], data[rank.rank]))
    assert_equal(data, list(np.stack(before).swapaxes(0, 1)))


def test_gather(ranks):
    data = inputs(2, 3)
    results = together(ranks, lambda rank: rank.gather(data[rank.rank], root=ROOT))
    assert [result is None for result in results] == [rank != ROOT for rank in range(RANKS)]
    assert_equal([results[ROOT]], [np.concatenate(data)])


def test_scatter(ranks):
    data = inputs(RANKS, 2, 3)[0]
    results = together(ranks, lambda rank: rank.scatter(data, root=ROOT) if rank.rank == ROOT else
                       rank.scatter(None, np.empty((2, 3), np.float32), ROOT))
    assert_equal([result.ravel() for result in results], list(data.reshape(RANKS, 6)))


def test_custom_collective(ranks):
    data = inputs(6)
    outputs = [np.zeros(6, np.float32) for _ in ranks]
    together(ranks, lambda rank: rank.run("shift(by = 1)", data[rank.rank], outputs[rank.rank]))
    assert_equal(outputs[1:], data[:-1])
    outputs = together(ranks, lambda rank: rank.run("shift(4, 2)", data[rank.rank]))
    assert_equal(outputs[2:], data[:-2])


def test_custom_collective_with_new_output_has_the_shape_of_the_input(ranks):
    data = inputs(2, 3)
    outputs = together(ranks, lambda rank: rank.run_program("shift_by_one", data[rank.rank]))
    assert [output.shape for output in outputs] == [(2, 3)] * RANKS
    assert_equal(outputs[1:], data[:-1])


def test_standard_collective_by_name(ranks):
    data = inputs(2, RANKS)
    outputs = together(ranks, lambda rank: rank.run("allgather", data[rank.rank]))
    assert_equal(outputs, [np.concatenate([values.ravel() for values in data])] * RANKS)


def test_ranks_without_input_or_output(ranks):
    data = inputs(3)
    outputs = together(ranks, lambda rank: rank.run("broadcast", data[ROOT] if rank.rank == ROOT else None,
                                                    np.empty(3, np.float32)))
    assert_equal(outputs, [data[ROOT]] * RANKS)
    results = together(ranks, lambda rank: rank.run("reduce", data[rank.rank]))
    assert [result is None for result in results] == [rank != ROOT for rank in range(RANKS)]
    assert_equal([results[ROOT]], [sum(data)])


def test_threads_are_ranks(everything):
    identity = gc3.unique_id()
    data, outputs = inputs(1000), [None] * RANKS

    def run(rank):
        with gc3.Communicator.from_id(identity, rank, RANKS, everything) as communicator:
            outputs[rank] = communicator.all_reduce(data[rank])

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(RANKS)]
    expected = sum(data)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_equal(outputs, [expected] * RANKS)


def test_select_names_the_program_of_a_call(ranks):
    calls = {"all_reduce": ("allreduce", None), "broadcast": ("broadcast", 1), "shift_by_two": ("shift(by = 2)", None)}
    for program, (collective, root) in calls.items():
        assert ranks[0].select(collective, inputs(3)[0], root=root) == program
    with pytest.raises(gc3.NoProgramError, match="sort"):
        ranks[0].select("sort", inputs(3)[0])


def test_memory_that_processes_share(ranks):
    arrays = [gc3.zeros((2, 3), "int64") for _ in ranks]
    assert (arrays[0].shape, arrays[0].dtype, arrays[0].any()) == ((2, 3), np.int64, False)
    for rank, array in enumerate(arrays):
        array += rank
    part = arrays[0][1]  # keeps the memory
    together(ranks, lambda rank: rank.all_reduce(arrays[rank.rank]))
    del arrays
    assert_equal([part], [[6, 6, 6]])
    assert gc3.zeros(0).shape == (0,)
    with pytest.raises(gc3.ArgumentError, match="dtype has elements of type bool, and gc3 has int8"):
        gc3.zeros(3, bool)
    with pytest.raises(gc3.ResourceError):
        gc3.zeros(1 << 60)
    assert gc3.zeros(np.int64(3)).shape == (3,) and gc3.zeros(np.array([2, 3])).shape == (2, 3)
    for shape, message in [(-1, "a dimension of shape is 0 to .*, not -1"), ((2, 1.5), "is an integer, not 1.5"),
                           (1 << 62, "the number of bytes is 0 to ")]:
        with pytest.raises(gc3.ArgumentError, match=message):
            gc3.zeros(shape)


def test_empty_arrays(ranks):
    outputs = together(ranks, lambda rank: rank.all_reduce(np.empty((0, 3), np.float32)))
    assert [output.shape for output in outputs] == [(0, 3)] * RANKS


# ---- Errors ----

VECTOR = np.zeros(8, np.float32)


@pytest.mark.parametrize("call, message", [
    (lambda rank: rank.all_reduce(VECTOR, np.zeros(7, np.float32)),
     "out has 7 elements (shape (7,) of float32 on cpu), and needs 8: as many as x"),
    (lambda rank: rank.all_reduce(VECTOR, np.zeros(8)),
     "x has elements of type float32, and out of type float64; they must have the same type"),
    (lambda rank: rank.all_reduce(VECTOR, op="median"), "op is one of sum, prod, max, min, avg, not 'median'"),
    (lambda rank: rank.all_gather(VECTOR, np.zeros((3, 8), np.float32)),
     "out has 24 elements (shape (3, 8) of float32 on cpu), and needs 32: those of x for each rank"),
    (lambda rank: rank.reduce_scatter(np.zeros(6, np.float32)),
     "x has 6 elements (shape (6,) of float32 on cpu), which is not a multiple of 4, the number of ranks"),
    (lambda rank: rank.reduce_scatter(np.zeros((2, 4), np.float32)),
     "the first dimension of x (shape (2, 4) of float32 on cpu) is not a multiple of 4, the number of ranks"),
    (lambda rank: rank.broadcast(VECTOR, root=4), "root is 0 to 3, not 4"),
    (lambda rank: rank.scatter(None, root=0), "x is None on rank 0, which is the root: pass the array to scatter"),
    (lambda rank: rank.scatter(None, root=1), "out is missing on rank 0: only the root 1 knows the shape"),
    (lambda rank: rank.run("shift(by = 1)"), "x is missing: rank 0 of 'shift(by = 1)' has an input"),
    (lambda rank: rank.run("broadcast", VECTOR),
     "count is missing: neither x nor out determines the size of 'broadcast' on this rank"),
    (lambda rank: rank.run("alltoall", np.zeros(6, np.float32)),
     "x has 6 elements (shape (6,) of float32 on cpu), which is not a multiple of the 4 blocks of 'alltoall' on this "
     "rank"),
    (lambda rank: rank.run("alltoall", VECTOR, count=3),
     "x has 8 elements (shape (8,) of float32 on cpu), and needs 12: 3 for each of the 4 blocks of 'alltoall'"),
    (lambda rank: rank.all_reduce([1.0] * 8),
     "x is a NumPy array, a PyTorch tensor or an object with the buffer protocol, not list"),
    (lambda rank: rank.all_gather(VECTOR, [[0.0] * 8] * 4),
     "out is a NumPy array, a PyTorch tensor or an object with the buffer protocol, not list"),
    (lambda rank: rank.reduce(VECTOR, root=1.0), "root is an integer, not 1.0"),
    (lambda rank: rank.run("alltoall", VECTOR, count=-1), "count is 0 to 9223372036854775807, not -1"),
    (lambda rank: rank.run("alltoall", VECTOR, count=2.0), "count is an integer, not 2.0"),
    (lambda rank: rank.run(3, VECTOR), "collective is a str without null characters, not 3"),
    (lambda rank: rank.run_program("a\0b", VECTOR), "program is a str without null characters, not 'a\\x00b'"),
    (lambda rank: rank.select(None, VECTOR), "collective is a str without null characters, not None"),
])
def test_wrong_arguments(ranks, call, message):
    with pytest.raises(gc3.ArgumentError) as error:
        call(ranks[0])
    assert str(error.value) == message


def test_unknown_collectives_and_programs(ranks):
    with pytest.raises(gc3.NoProgramError, match="no 'sort' for 4 ranks; it has allgather, allreduce, "):
        ranks[0].run("sort", VECTOR)
    with pytest.raises(gc3.NoProgramError, match="no 'sort' for 4 ranks; it has all_gather, all_reduce, all_to_all, "):
        ranks[0].run_program("sort", VECTOR)
    with pytest.raises(gc3.NoProgramError, match="no 'shift\\(by = 3\\)' for 4 ranks"):
        ranks[0].run("shift(by = 3)", VECTOR)


def test_ambiguous_collective(ranks):
    with pytest.raises(gc3.ArgumentError, match="shift\\(n = 4, by = 1.*shift\\(n = 4, by = 2"):
        together(ranks, lambda rank: rank.run("shift", VECTOR.copy()))


def test_read_only_output(ranks):
    array = np.zeros(8, np.float32)
    array.flags.writeable = False
    with pytest.raises(gc3.ArgumentError, match="x is read-only; pass an array that can be written"):
        ranks[0].all_reduce(array)


def test_calls_that_do_not_match(ranks):
    data = inputs(8)
    with pytest.raises(gc3.UsageError, match="rank") as error:
        together(ranks, lambda rank: rank.all_reduce(data[rank.rank], op="max" if rank.rank else "min"))
    assert error.value.code == 5


def test_overlapping_buffers(ranks):
    data = [np.zeros(9, np.float32) for _ in ranks]
    with pytest.raises(gc3.ArgumentError, match="overlap"):
        together(ranks, lambda rank: rank.all_reduce(data[rank.rank][:8], data[rank.rank][1:]))


def test_rank_that_does_not_call(everything):
    ranks = gc3.Communicator.all_ranks(everything, config=gc3.Config(timeout=0.2))
    with pytest.raises(gc3.TimeoutError):
        ranks[0].all_reduce(np.zeros(8, np.float32))
    with pytest.raises(TimeoutError):  # all later calls fail, too
        ranks[0].all_reduce(np.zeros(8, np.float32))
    for rank in ranks:
        rank.abort()


def test_closed_communicator(everything):
    ranks = gc3.Communicator.all_ranks(everything)
    for rank in ranks:
        rank.close()
        rank.close()
    assert repr(ranks[2]) == "<closed gc3.Communicator: rank 2 of 4 on cpu>"
    with pytest.raises(gc3.UsageError, match="the communicator is closed"):
        ranks[0].all_reduce(VECTOR.copy())


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_communicator_has_no_copies(ranks, duplicate):
    with pytest.raises(TypeError, match="a communicator cannot be copied or pickled"):
        duplicate(ranks[0])


def test_a_failed_block_aborts_the_communicator(everything):
    ranks = gc3.Communicator.all_ranks(everything)
    with pytest.raises(ZeroDivisionError), ranks[0]:
        1 / 0
    assert "closed" in repr(ranks[0])
    for rank in ranks[1:]:
        rank.abort()


def test_a_failed_group_keeps_its_own_error(everything):
    ranks = gc3.Communicator.all_ranks(everything, config=gc3.Config(timeout=0.2))
    with pytest.raises(ZeroDivisionError), gc3.group():
        ranks[0].all_reduce(VECTOR.copy())
        1 / 0
    for rank in ranks:
        rank.abort()


def test_creation_errors(everything, tmp_path):
    with pytest.raises(gc3.ArgumentError, match="id has 3 bytes, and gc3.unique_id\\(\\) returns 256"):
        gc3.Communicator.from_id(b"abc", 0, 2, everything)
    with pytest.raises(gc3.ArgumentError, match="id|damaged"):
        gc3.Communicator.from_id(bytes(256), 0, 2, everything)
    with pytest.raises(gc3.ArgumentError, match="size is 1 to 65536, not 0"):
        gc3.Communicator.all_ranks(everything, 0)
    with pytest.raises(gc3.UsageError, match="no launcher"):
        gc3.Communicator.from_env(everything)
    with pytest.raises(gc3.ArgumentError, match="no such program|nothing"):
        gc3.Communicator.all_ranks(everything, config=gc3.Config(programs="nothing"))
    with pytest.raises(gc3.ArgumentError, match="size is an integer, not 1.5"):
        gc3.Communicator.all_ranks(everything, 1.5)
    with pytest.raises(gc3.ArgumentError, match="size is 1 to 65536, not 1099511627776"):
        gc3.Communicator.from_id(bytes(256), 0, 2**40, everything)
    with pytest.raises(gc3.ArgumentError, match="rank is 0 to 1, not -1"):
        gc3.Communicator.from_id(bytes(256), -1, 2, everything)
    for pointer, message in [(0, "is 1 to 18446744073709551615, not 0"), (None, "is an integer, not None")]:
        with pytest.raises(gc3.ArgumentError, match=f"pointer {message}"):
            gc3.Communicator.from_nccl(pointer, everything)


@pytest.mark.parametrize("settings, message", [
    ({"tune": "always"}, "tune is None, 'off', 'online', .*, not 'always'"),
    ({"tune": []}, "tune is None, 'off', 'online', .*, not \\[\\]"),
    ({"timeout": 0}, "timeout in seconds is 0.001 to 4000000, not 0"),
    ({"timeout": float("nan")}, "timeout in seconds is 0.001 to 4000000, not nan"),
    ({"timeout": "1"}, "timeout in seconds is a number, not '1'"),
    ({"slots": -1}, "slots is 1 to 4294967295, not -1"),
    ({"slots": 2**32}, "slots is 1 to 4294967295, not 4294967296"),
    ({"slots": 1.5}, "slots is an integer, not 1.5"),
    ({"nodes": -1}, "nodes is 1 to 65536, not -1"),
    ({"nodes": "2"}, "nodes is an integer, not '2'"),
    ({"tune_budget": -1}, "tune_budget is 0 to 100, not -1"),
    ({"tune_budget": 101}, "tune_budget is 0 to 100, not 101"),
    ({"allow_unproven": "no"}, "allow_unproven is False or True, not 'no'"),
    ({"programs": 3}, "programs is a str without null characters, not 3"),
    ({"name": "a\0b"}, "name is a str without null characters, not 'a.x00b'"),
    ({"trace": 3}, "trace is a str without null characters, not 3"),
])
def test_wrong_configs(settings, message):
    with pytest.raises(gc3.ArgumentError, match=f"^{message}$"):
        gc3.Config(**settings)


def test_configs_of_numbers_of_numpy():
    config = gc3.Config(timeout=np.float32(0.5), nodes=np.int64(2), slots=np.uint8(3), tune_budget=np.float64(1),
                        allow_unproven=np.bool_(True)).host()
    assert (config.timeoutMs, config.nodes, config.slots, config.tuneBudget, config.allowUnproven) == (500, 2, 3, 1, 1)


def test_sizes_of_a_bundle_with_several(tmp_path):
    bundle = gc3.compile("""
        import "std/alltoall.gc3";
        program a implements alltoall(ranks = 2) { direct_alltoall(0..2); }
        program b implements alltoall(ranks = 3) { direct_alltoall(0..3); }
    """)
    with pytest.raises(gc3.ArgumentError, match="the programs of the bundle are for 2, 3 ranks: pass size"):
        gc3.Communicator.all_ranks(bundle)
    assert len(gc3.Communicator.all_ranks(bundle, 3)) == 3


def test_settings_reach_the_library(everything, tmp_path):
    config = gc3.Config(timeout=20, programs="allreduce:all_reduce", tune="off", trace=str(tmp_path / "t.json"),
                        slots=16)
    ranks = gc3.Communicator.all_ranks(everything, config=config)
    data = inputs(8)
    together(ranks, lambda rank: rank.all_reduce(data[rank.rank]))
    for rank in ranks:
        rank.close()
    assert "all_reduce" in (tmp_path / "t.json").read_text()


@pytest.mark.parametrize("new", [lambda: array.array("B", [1] * RANKS), lambda: bytearray([1] * RANKS)])
def test_buffers_keep_their_size_until_the_group_ends(ranks, new):
    data = [new() for _ in ranks]
    with gc3.group():
        for rank, values in zip(ranks, data):
            rank.all_reduce(values)
        for values in data:
            with pytest.raises(BufferError):
                values.extend(b"ab")
    assert [list(values) for values in data] == [[RANKS] * RANKS] * RANKS
    for values in data:
        values.extend(b"ab")
        assert len(values) == RANKS + 2
