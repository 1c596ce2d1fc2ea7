# SPDX-License-Identifier: Apache-2.0
"""Programs of examples/ with other params, protocols and names, for benchmarks that compare many of them."""
import concurrent.futures
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROTOCOLS = ["Simple", "LL", "LL128"]
GRIDS = {"hierarchical_allreduce": ("N", "G"), "twostep_alltoall": ("N", "G"), "torus_allreduce": ("X", "Y")}


def defines_of(example, ranks):
    """Returns the params of an example that set its number of ranks."""
    if example not in GRIDS:
        return {"R": ranks}
    first, second = GRIDS[example]
    return {first: 2, second: ranks // 2} if example != "torus_allreduce" else {first: ranks // 2, second: 2}


class Variant:
    """An example, its number of ranks, its protocol (None: its own), and its channels (None: its own)."""

    def __init__(self, example, ranks, protocol=None, channels=None):
        self.example, self.ranks, self.protocol, self.channels = example, ranks, protocol, channels
        self.name = example + (f"_{protocol}" if protocol else f"_r{ranks}") + (f"_c{channels}" if channels else "")

    def source(self):
        with open(os.path.join(ROOT, "examples", self.example + ".gc3"), encoding="utf-8") as file:
            text = file.read()
        if self.protocol:
            text = re.sub(r"\n *protocol \w+;", "", text)
            text = re.sub(r"(\nprogram [^{]*\{)", rf"\1\n    protocol {self.protocol};", text)
        return re.sub(rf"\bprogram {self.example}\b", f"program {self.name}", text)

    def compile(self, folder, build):
        """Makes a bundle that has this program for calls of all sizes. Returns its path."""
        path, bundle = os.path.join(folder, self.name + ".gc3"), os.path.join(folder, self.name + ".gc3b")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source())
        defines = defines_of(self.example, self.ranks) | ({"channels": self.channels} if self.channels else {})
        subprocess.run([os.path.join(build, "tools", "gc3c", "gc3c"), path, "-o", bundle,
                        *[f"-D{name}={value}" for name, value in defines.items()]], check=True)
        return bundle


def compile_all(variants, folder, build):
    """Returns a dictionary from names to bundles."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bundles = pool.map(lambda variant: variant.compile(folder, build), variants)
        return dict(zip([variant.name for variant in variants], bundles))
