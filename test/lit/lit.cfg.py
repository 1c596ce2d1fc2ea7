# SPDX-License-Identifier: Apache-2.0
# Tests are .gc3, .gc3-ir, .inst-dag and .test files with RUN lines. The tools are in PATH, %root is the source tree,
# and %tuner is libgc3tuner.so.
import os
import shutil

import lit.formats

config.name = "gc3"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".gc3", ".gc3-ir", ".inst-dag", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.gc3_test_output

config.environment["PATH"] = os.pathsep.join(
    [os.path.dirname(tool) for tool in (config.gc3c, config.gc3_run, config.gc3_sim, config.gc3_tune, config.gc3_synth, config.load_tuner) if tool]
    + [config.gc3_llvm_tools, config.environment["PATH"]]
)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%root", config.gc3_source))
config.substitutions.append(("%tuner", config.gc3_tuner))

# Tests that require `optimised` have limits of time or memory. Builds with sanitizers can't keep these limits.
if not config.gc3_sanitized:
    config.available_features.add("optimised")

# Sweeps that take minutes: scripts/check.sh --deep runs them.
if os.environ.get("GC3_DEEP"):
    config.available_features.add("deep")

if config.gc3_synth:
    config.available_features.add("synth")
else:
    lit_config.note("built without gc3-synth: its tests are skipped")

if shutil.which("dot"):
    config.available_features.add("graphviz")
else:
    lit_config.note("no Graphviz: tests that draw graphs are skipped")

# The folder shared/corpus next to the checkout, if there is one, has programs of other systems.
corpus = os.path.join(config.gc3_source, "..", "shared", "corpus")
if os.path.isdir(corpus):
    config.available_features.add("corpus")
    config.substitutions.append(("%corpus", corpus))
else:
    lit_config.note("no corpus of foreign programs next to the source tree: tests that need it are skipped")
