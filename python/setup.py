# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel. pyproject.toml describes the package.

If GC3_BUILD is the absolute path of a build folder of gc3, the wheel contains libgc3 and the tools of that build, and
is for the build machine's platform. Otherwise the wheel is pure Python, and uses the libgc3 and the tools that are
installed.
"""

import os
import pathlib
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

TOOLS = ("gc3c", "gc3-run", "gc3-sim", "gc3-tune", "gc3-synth")
BUILD = pathlib.Path(os.environ["GC3_BUILD"]) if os.environ.get("GC3_BUILD") else None
LIBRARY = BUILD / "runtime/api/libgc3.so.0" if BUILD else None

if LIBRARY and not (LIBRARY.is_absolute() and LIBRARY.exists()):
    raise SystemExit(f"GC3_BUILD={BUILD}: there is no '{LIBRARY}'; give the absolute path of a build folder of gc3")


class BuildWithBinaries(build_py):
    """Copies libgc3 and the tools of the build folder into the package."""

    def run(self):
        super().run()
        if BUILD is None:
            return
        package = pathlib.Path(self.build_lib) / "gc3"
        sources = {package / "lib" / LIBRARY.name: LIBRARY,
                   package / "lib/libgc3gin.so": BUILD / "runtime/gin/libgc3gin.so",
                   **{package / "bin" / tool: BUILD / "tools" / tool / tool for tool in TOOLS}}
        for target, source in sources.items():
            if source.exists():  # a build can lack the plugin for messages between GPU nodes, and gc3-synth
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)


class Wheel(bdist_wheel):
    """Names a wheel with binaries for any Python 3 of this platform: they do not use Python's binary interface."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform) if BUILD else (python, abi, platform)


class Package(Distribution):
    def has_ext_modules(self):
        return BUILD is not None


setup(cmdclass={"build_py": BuildWithBinaries, "bdist_wheel": Wheel}, distclass=Package)
