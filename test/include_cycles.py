# SPDX-License-Identifier: Apache-2.0
"""include_cycles.py ROOT: fails if parts of include/, lib/, runtime/ or tools/ include one another in a cycle.

A part is a header and the source of the same name in one folder: lib/Driver/Pipeline.h and lib/Driver/Pipeline.cpp. A
part depends on each part whose header one of its files includes. Headers must not form a cycle by themselves, either.
Linear in files and includes.
"""
import os
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
HEADERS = (".h", ".cuh")
SOURCES = (".cpp", ".cu")

# Allowed cycles: sets of parts that share one task. A source of one part includes the header of another part, and that
# header uses types of the first part.
PAIRS = [{"lib/Sema/Compiler", "lib/Sema/BodyCompiler"},
         {"runtime/bundle/BundleFile", "runtime/bundle/Validate"},
         {"runtime/core/Factor", "runtime/core/ElementArithmetic"},
         {"runtime/core/Transfers", "runtime/core/Inputs"},
         {"runtime/host/PreparedCall", "runtime/host/Executor"},
         {"runtime/host/Reduce", "runtime/host/ReduceF16c"},
         {"runtime/core/Log", "runtime/core/SettingText", "runtime/core/Settings"}]


def part_of(path):
    """Returns the name of the part that a file belongs to: its path without suffix."""
    return os.path.splitext(path)[0]


def resolve(name, path, files):
    """Returns the file that `path` includes as `name`, or None for a file of another project."""
    for folder in [os.path.dirname(path), "include", "runtime", "runtime/include"]:
        candidate = os.path.normpath(os.path.join(folder, name))
        if candidate in files:
            return candidate
    return None


def cycles(graph):
    """Returns the sets of two or more nodes that reach one another. Uses Tarjan's algorithm, without recursion."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(graph[successor]))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = set()
                    while not members or node not in members:
                        members.add(stack.pop())
                    on_stack -= members
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def graph_of(includes, node_of):
    """Returns the graph of nodes, given the files that each file includes."""
    graph = {node_of(path): set() for path in includes}
    for path, included in includes.items():
        graph[node_of(path)] |= {node_of(file) for file in included} - {node_of(path)}
    return graph


def main(root):
    files = {path.relative_to(root).as_posix() for folder in ["include", "lib", "runtime", "tools"]
             for path in pathlib.Path(root, folder).rglob("*") if path.suffix in HEADERS + SOURCES}
    includes = {}
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            included = [resolve(name, path, files) for name in INCLUDE.findall(file.read())]
        includes[path] = {name for name in included if name}
    headers = {path: included for path, included in includes.items() if path.endswith(HEADERS)}
    found = cycles(graph_of(headers, lambda path: path))
    found += [members for members in cycles(graph_of(includes, part_of)) if set(members) not in PAIRS]
    for members in found:
        print("these include one another: " + ", ".join(members))
    print(f"{len(files)} files, {len(found)} cycles")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
