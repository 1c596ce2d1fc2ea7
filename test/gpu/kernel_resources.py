#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles all kernels and prints the registers and shared memory of each. Fails if a kernel spills.

With --nccl, includes the kernels that use NCCL's GIN. NCCL's functions need local memory. The script prints it, but
does not count it as a spill. """
import argparse
import re
import subprocess
import sys
import tempfile

ELEMENTS = ["int8_t", "uint8_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "__half", "float", "double", "__nv_bfloat16",
            "__nv_fp8_e4m3", "__nv_fp8_e5m2"]
MANGLED = {"a": "int8_t", "h": "uint8_t", "i": "int32_t", "j": "uint32_t", "l": "int64_t", "m": "uint64_t", "f": "float", "d": "double"}
PROTOCOLS = ["Simple", "LL", "LL128"]


def compile_kernels(arguments, source, options, cubin):
    """Compiles a file to `cubin`. Yields (mangled name, bytes of local memory, spilled bytes, registers, shared bytes) of
    each kernel."""
    run = subprocess.run([arguments.nvcc, "-ccbin", arguments.host_compiler, "-O3", f"-arch=sm_{arguments.architecture}", *options,
                          "-Xptxas=-v", "-cubin", "-o", cubin, source], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stdout + run.stderr)
    pattern = (r"Function properties for (\S+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
               r".*?Used (\d+) registers(.*)")
    for name, stack, stores, loads, registers, rest in re.findall(pattern, run.stderr + run.stdout):
        shared = re.search(r"(\d+) bytes smem", rest)
        yield name, int(stack), int(stores) + int(loads), int(registers), int(shared.group(1)) if shared else 0


def options_of(runtime, element=None):
    """The options of the compiler for the kernels of an element type, or for other kernels."""
    options = ["-std=c++20", f"-I{runtime}", f"-I{runtime}/include", f"-I{runtime}/../include"]
    return options + [f"-DGC3_ELEMENT={element}", "-DGC3_KERNELS=kernelsOfOneType"] if element else options


def resources(arguments, source, element=None):
    options = options_of(arguments.runtime, element)
    if arguments.nccl:
        options += ["-I", arguments.nccl, f"-DGC3_NCCL_VERSION={arguments.nccl_version}"]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        yield from compile_kernels(arguments, f"{arguments.runtime}/{source}", options, cubin.name)


def protocol_of(name):
    """The protocol of an interpreter kernel, from its mangled name."""
    return PROTOCOLS[int(re.search(r"ProtocolE(\d)E", name).group(1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["nvcc", "host-compiler", "architecture", "runtime"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--nccl", help="the folder of nccl_device.h")
    parser.add_argument("--nccl-version", help="the NCCL_VERSION_CODE there")
    arguments = parser.parse_args()
    rows = []
    for element in ELEMENTS:
        for name, *figures in resources(arguments, "kernel/Kernels.cu", element):
            rows.append((f"{element} {protocol_of(name)}", *figures))
        if arguments.nccl:
            rows += [(f"{element} GIN", *figures) for name, *figures in resources(arguments, "gin/Kernels.cu", element)
                     if "interpret" in name]
    for name, *figures in resources(arguments, "kernel/SwitchKernels.cu"):
        element = re.search(r"interpretOverSwitchI\d*(\w+?)E", name).group(1)
        rows.append((f"{MANGLED.get(element, element)} Switch", *figures))
    for name, *figures in resources(arguments, "kernel/ScaleKernels.cu"):
        kind, length, element = re.search(r"\d(multiply|divide)I(\d*)(\w+?)E", name).groups()
        rows.append((f"{element if length else MANGLED[element[0]]} {kind}", *figures))
    print(f"sm_{arguments.architecture}: registers, bytes of shared memory, of local memory, and of spills")
    for name, local, spilled, registers, shared in sorted(rows):
        print(f"{name:28} {registers:4} {shared:6} {local:4} {spilled:4}")
    wanted = (4 if arguments.nccl else 3) * len(ELEMENTS) + 21
    if len(rows) != wanted:
        sys.exit(f"{len(rows)} kernels were found, {wanted} were looked for")
    if any(spilled or (local and not name.endswith(" GIN")) for name, local, spilled, _, _ in rows):
        sys.exit("a kernel spills")


if __name__ == "__main__":
    main()
