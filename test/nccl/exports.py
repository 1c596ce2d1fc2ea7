# SPDX-License-Identifier: Apache-2.0
"""Checks what the libraries of the interposer export.

exports.py front NM LIBRARY                          libgc3nccl.so exports exactly INTERPOSED
exports.py replacement NM LIBRARY PINNED INSTALLED   gc3's libnccl.so.2 exports INTERPOSED, the names in the file
                                                     PINNED, and the names that an installed NCCL exports
exports.py needs READELF LIBRARY                     the library depends only on the C library
exports.py header NCCL_H                             INTERPOSED has exactly the functions of nccl.h for collectives,
                                                     groups, reduction operations, windows, names, ends and states
"""
import pathlib
import re
import subprocess
import sys

INTERPOSED = {
    "nccl" + name
    for name in """
    AllGather AllReduce AlltoAll Bcast Broadcast Gather Reduce ReduceScatter Scatter
    CommInitRankConfig CommInitRankScalable CommSplit
    CommShrink CommFinalize CommDestroy CommAbort CommRevoke CommGetAsyncError GroupStart GroupEnd GroupSimulateEnd
    RedOpCreatePreMulSum RedOpDestroy
    CommWindowRegister CommWindowDeregister
    """.split()
}
# Calls between two ranks: the interposer does not export them.
BETWEEN_TWO = {"ncclSend", "ncclRecv", "ncclPutSignal", "ncclSignal", "ncclWaitSignal"}


def exports(nm, library):
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in lines.splitlines()}


def expect_equal(what, found, expected):
    for name in sorted(found - expected):
        print(f"{what}: {name} is too much")
    for name in sorted(expected - found):
        print(f"{what}: {name} is missing")
    sys.exit(found != expected)


def front(nm, library):
    expect_equal(library, exports(nm, library), INTERPOSED)


def replacement(nm, library, pinned, installed):
    expected = INTERPOSED | set(pathlib.Path(pinned).read_text().split())
    if installed:
        expected |= {name for name in exports(nm, installed) if re.match("p?nccl[A-Z]", name)}
    expect_equal(library, exports(nm, library), expected)


def needs(readelf, library):
    lines = subprocess.run([readelf, "-d", library], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", lines)
    c_library = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0"}
    expect_equal(library, {name for name in needed if not name.startswith("ld-linux")} - c_library, set())


def header(path):
    declared = dict(re.findall(r"ncclResult_t\s+(nccl[A-Z]\w+)\(([^)]*)\)", pathlib.Path(path).read_text()))
    ours = {
        name
        for name, parameters in declared.items()
        if ("cudaStream_t" in parameters and name not in BETWEEN_TWO)
        or name.startswith(("ncclGroup", "ncclRedOp", "ncclCommWindow"))
        or re.fullmatch(r"ncclComm(InitRankConfig|InitRankScalable|Split|Shrink|Finalize|Destroy|Abort|Revoke|GetAsyncError)", name)
    }
    expect_equal(path, ours, INTERPOSED)


{"front": front, "replacement": replacement, "needs": needs, "header": header}[sys.argv[1]](*sys.argv[2:])
