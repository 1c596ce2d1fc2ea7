"""examples.py DIR: compiles five examples of the folder for many sizes."""
import itertools
import subprocess
import sys

sizes = [1, 2, 3, 4, 5, 7]
variants = [(name, {"N": n, "G": g})
            for name in ("hierarchical_allreduce", "twostep_alltoall", "alltonext")
            for n, g in itertools.product(sizes, sizes)]
variants += [("allpairs_allreduce", {"R": r}) for r in (1, 2, 3, 4, 5, 7, 8, 11, 13, 16)]
variants += [("ring_allreduce", {"R": r, "channels": k}) for r in (1, 2, 3, 4, 5, 7, 8, 11, 13) for k in sizes if k <= r]
for name, params in variants:
    defines = [f"-D{key}={value}" for key, value in params.items()]
    subprocess.run(["gc3c", "--emit=chunk-dag", *defines, f"{sys.argv[1]}/{name}.gc3"], check=True, stdout=subprocess.DEVNULL)
print(len(variants), "variants compile")
