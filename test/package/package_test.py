# SPDX-License-Identifier: Apache-2.0
"""Tests the files that gc3 installs, by building examples/project outside of the source tree.

install          installs the build into a directory and moves it elsewhere: no file may contain the old path.
cmake            configures the project with one generator, runs it, and checks which changes recompile the bundle.
documentation    follows the links of the installed pages.
errors           checks the messages of find_package and gc3_add_bundle for wrong uses and for a missing compiler.
pkg-config       builds the program with the flags of gc3.pc.
subdirectory     configures projects with gc3 as a subdirectory, or with a subdirectory that finds gc3, and checks that
                 no settings leak into them.
deb              makes the Debian packages, checks their contents, unpacks them and builds the project with them. Runs
                 the Python package in a root folder that has only these packages and Python.
wheel            makes wheels of the Python package, with and without libgc3 and the tools, and runs each of them in such
                 a root folder.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import bare_root


def run(*command, cwd=None, env=None):
    """Runs a command that must succeed and returns its output. On failure, prints the output."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    print(f"$ {' '.join(map(str, command))}\n{done.stdout}", flush=True)
    done.check_returncode()
    return done.stdout


def replace_in(path, old, new):
    """Edits a file. Writes it until its time is later than that of any older file, even if the clock is coarse."""
    text = path.read_text()
    assert old in text, f"{path} has no '{old}'"
    before = path.parent / "clock"
    before.touch()
    while path.stat().st_mtime_ns <= before.stat().st_mtime_ns:
        path.write_text(text.replace(old, new))
    before.unlink()


class Project:
    """A copy of examples/project. It is configured and built in a directory whose name has a space."""

    def __init__(self, options, name, *settings):
        self.top = options.work / f"{name} project"
        shutil.rmtree(self.top, ignore_errors=True)
        self.source = self.top / "source"
        self.build = self.top / "build"
        self.bundle = self.build / "allreduce.gc3b"
        self.settings = [f"-DCMAKE_PREFIX_PATH={options.prefix}", f"-DCMAKE_C_COMPILER={options.cc}", *settings]
        shutil.copytree(options.source / "examples/project", self.source)

    def configure(self, *settings):
        return run("cmake", "-S", self.source, "-B", self.build, *self.settings, *settings)

    def make(self):
        """Builds the project. Returns True if the bundle was compiled: its inode or its time has changed."""
        before = self.bundle.stat() if self.bundle.exists() else None
        run("cmake", "--build", self.build)
        after = self.bundle.stat()
        return before is None or (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns)

    def test(self, ranks):
        said = run(self.build / "sum", self.bundle)
        assert said == f"ring_allreduce: {ranks} ranks, 1000 elements, 0 wrong\n", said


def check_front(options):
    """Checks the exports of the installed interposers: libgc3nccl.so, and on x86-64 also gc3/libnccl.so.2."""
    (library,) = options.prefix.rglob("libgc3nccl.so")
    exports = [sys.executable, options.source / "test/nccl/exports.py"]
    run(*exports, "front", "nm", library)
    for path in options.prefix.rglob("libnccl.so*"):
        assert path == library.parent / "gc3/libnccl.so.2", f"{path} would be taken for NCCL"
        run(*exports, "replacement", "nm", path, options.source / "runtime/shim/front/Exports.txt", options.nccl)
    assert options.machine != "x86_64" or (library.parent / "gc3/libnccl.so.2").exists()


def check_tuner(options):
    """Checks that NCCL finds a tuner in the installed plugin, which is next to libgc3nccl.so."""
    (library,) = options.prefix.rglob("libgc3tuner.so")
    assert (library.parent / "libgc3nccl.so").exists(), library
    assert "ncclTunerPlugin_v6" in run("nm", "-D", "--defined-only", library)


def check_gin(options):
    """Checks that libgc3gin.so is where libgc3.so looks for it. A build without libgc3gin.so must not install it."""
    found = [path.relative_to(options.prefix) for path in options.prefix.rglob("libgc3gin.so")]
    (library,) = options.prefix.rglob("libgc3.so.0")
    expected = (library.parent / "gc3/libgc3gin.so").relative_to(options.prefix)
    assert found == [expected] * options.gin, found


def test_install(options):
    staging = options.work / "staging"
    for directory in (staging, options.prefix):
        shutil.rmtree(directory, ignore_errors=True)
    run("cmake", "--install", options.build, "--prefix", staging)
    staging.rename(options.prefix)
    version = f"{options.version}\n"
    assert run(options.prefix / "bin/gc3-run", "--version") == f"gc3-run {version}"
    if options.compiler:
        assert run(options.prefix / "bin/gc3c", "--version") == f"gc3c {version}"
    check_front(options)
    check_tuner(options)
    check_gin(options)
    for path in options.prefix.rglob("*"):
        if path.suffix in (".cmake", ".pc"):
            text = path.read_text()
            for place in (options.build, options.source, staging):
                assert str(place) not in text, f"{path} remembers {place}"


def test_cmake(options):
    project = Project(options, options.generator, f"-G{options.generator}", "-DRANKS=3")
    project.configure()
    assert project.make()
    project.test(3)
    assert not project.make(), "nothing has changed"

    replace_in(project.source / "steps/ring.gc3", "R: int", "R : int")
    assert project.make(), "an import has changed"
    assert not project.make()

    replace_in(project.source / "allreduce.gc3", "R: int = 2", "R: int = 5")
    assert project.make(), "the source has changed"
    assert not project.make()

    project.configure()
    assert not project.make(), "the same arguments"
    project.configure("-DRANKS=7")
    assert project.make(), "a param has changed"
    project.test(7)
    assert not project.make()

    compiler = options.prefix / "bin/gc3c"
    replaced = compiler.with_suffix(".new")
    shutil.copyfile(compiler, replaced)
    replaced.chmod(0o755)
    replaced.replace(compiler)
    assert project.make(), "the compiler has changed"
    assert not project.make()

    replace_in(project.source / "allreduce.gc3", '"ring.gc3"', '"moved.gc3"')
    (project.source / "steps/ring.gc3").rename(project.source / "steps/moved.gc3")
    assert project.make(), "an import has another name"
    project.test(7)
    if options.generator == "Ninja":  # with Makefiles, the build still depends on the file that was renamed
        assert not project.make()


def test_documentation(options):
    pages = options.prefix / "share/doc/gc3"
    run(sys.executable, options.source / "test/doc_links.py", pages)
    installed = {path.relative_to(pages) for folder in ("std", "examples") for path in (pages / folder).rglob("*.gc3")}
    assert installed == {path.relative_to(options.source) for folder in ("std", "examples")
                         for path in (options.source / folder).rglob("*.gc3")}, installed
    assert not list(pages.rglob("*.cmake")) + list(pages.rglob("*.sh")), "these are for the build"


def rejected(options, name, lists, *settings):
    """Returns CMake's message about a project that it must reject, as one line."""
    project = Project(options, name, *settings)
    (project.source / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\n{lists}\n")
    done = subprocess.run(["cmake", "-S", project.source, "-B", project.build, *project.settings], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, flush=True)
    assert done.returncode != 0, f"{lists} was accepted"
    return " ".join(done.stdout.split())


def test_errors(options):
    major, minor, _ = map(int, options.version.split("."))
    said = rejected(options, "errors", f"find_package(gc3 {major}.{minor + 1} REQUIRED)")
    assert 'compatible with requested version' in said, said

    def misuse(call, complaint):
        said = rejected(options, "errors", f"find_package(gc3 REQUIRED)\n{call}")
        assert complaint in said, said

    if not options.compiler:
        misuse("gc3_add_bundle(b allreduce.gc3)", "gc3_add_bundle(b): this gc3 has no compiler")
        said = rejected(options, "errors", "find_package(gc3 REQUIRED COMPONENTS runtime compiler)")
        assert "This gc3 was installed without the component 'compiler'." in said, said
        return
    misuse("gc3_add_bundle(b missing.gc3)", "gc3_add_bundle(b): there is no file '")
    misuse("gc3_add_bundle(b steps)", "gc3_add_bundle(b): there is no file '")
    misuse("gc3_add_bundle(b allreduce.gc3 RANKS 3)", "gc3_add_bundle(b): unknown argument 'RANKS;3'")
    misuse('gc3_add_bundle(b allreduce.gc3 DEFINES "R=2;3")', "gc3_add_bundle(b): DEFINES can't pass on the ';' in 'R=2;3'")
    misuse("gc3_add_bundle(b allreduce.gc3 DEFINES R)", "gc3_add_bundle(b): DEFINES takes name=value, not 'R'")
    misuse("gc3_add_bundle(b allreduce.gc3 PROGRAM)", "gc3_add_bundle(b): nothing follows PROGRAM")
    misuse("add_custom_target(b)\ngc3_add_bundle(b allreduce.gc3)", "gc3_add_bundle(b): there is a target 'b' already")
    said = rejected(options, "errors", "find_package(gc3 REQUIRED COMPONENTS runtime cuda)")
    assert "This gc3 was installed without the component 'cuda'." in said, said


def test_pkg_config(options):
    (pc,) = options.prefix.rglob("gc3.pc")
    env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))
    assert run("pkg-config", "--modversion", "gc3", env=env) == f"{options.version}\n"
    flags = run("pkg-config", "--cflags", "--libs", "gc3", env=env).split()
    libdir = run("pkg-config", "--variable=libdir", "gc3", env=env).strip()
    program = options.work / "sum"
    run(options.cc, options.source / "examples/project/sum.c", *flags, f"-Wl,-rpath,{libdir}", "-o", program)
    done = subprocess.run([program, "missing.gc3b"], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "missing.gc3b" in done.stderr, done


def test_subdirectory(options):
    """Only configures the projects: a build takes minutes, and leaked settings are visible without it."""
    parent = options.work / "subdirectory project"
    shutil.rmtree(parent, ignore_errors=True)
    (parent / "found").mkdir(parents=True)
    shutil.copyfile(options.source / "examples/chain_reduce.gc3", parent / "b.gc3")
    (parent / "found/CMakeLists.txt").write_text("find_package(gc3 REQUIRED)\n")

    def configure(build, lists, *settings):
        (parent / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C CXX)\n"
                                               f"enable_testing()\ninstall(FILES b.gc3 DESTINATION p)\n{lists}\n")
        run("cmake", "-S", parent, "-B", parent / build, "-GNinja", f"-DCMAKE_C_COMPILER={options.cc}", *settings)
        run("cmake", "--install", parent / build, "--prefix", parent / "prefix")
        assert [path.name for path in (parent / "prefix").rglob("*")] == ["p", "b.gc3"]
        assert "Total Tests: 0" in run("ctest", "--test-dir", parent / build, "-N")
        return (parent / build / "build.ninja").read_text()

    compiler = "ON" if options.compiler else "OFF"
    bundle = "gc3_add_bundle(b b.gc3)" if options.compiler else ""
    rules = configure("inside", f'add_subdirectory("{options.source}" gc3)\n{bundle}', f"-DGC3_COMPILER={compiler}")
    assert "Werror" not in rules and "manual-pages" not in rules and "libgc3.so" in rules
    if options.compiler:
        # The subdirectory `found` finds gc3, and its parent uses gc3. A later find_package and a second subdirectory
        # must find gc3 again.
        configure("beside", f"add_subdirectory(found)\n{bundle}\nfind_package(gc3 REQUIRED)\nadd_subdirectory(found again)\n"
                  "gc3_add_bundle(c b.gc3)", f"-DCMAKE_PREFIX_PATH={options.prefix}")


def control(package, field):
    return run("dpkg-deb", "--field", package, field).strip()


def unpack(options, root, *packages):
    shutil.rmtree(root, ignore_errors=True)
    for package in packages:
        run("dpkg-deb", "--extract", package, root)
    options.prefix = root / "usr"


def test_deb(options):
    """Checks that packages without the compiler do not mention it. Then checks the packages of this build."""
    build = options.work / "runtime-only"
    run("cmake", "-S", options.source, "-B", build, "-GNinja", "-DGC3_COMPILER=OFF", "-DGC3_TESTS=OFF")
    settings = (build / "CPackConfig.cmake").read_text()
    assert "gc3-run runs bundles" in settings and "gc3c compiles" not in settings and "gc3_add_bundle" not in settings

    missing = [tool for tool in ("dpkg-deb", "dpkg-shlibdeps", "file") if not shutil.which(tool)]
    if missing:
        print(f"skipped: cpack needs {', '.join(missing)} (Debian's dpkg-dev and file)")
        sys.exit(SKIPPED)
    out = options.work / "packages"
    shutil.rmtree(out, ignore_errors=True)
    run("cpack", "-G", "DEB", "--config", options.build / "CPackConfig.cmake", "-B", out)
    packages = {control(path, "Package"): path for path in out.glob("*.deb")}
    assert sorted(packages) == ["gc3", "libgc3-0", "libgc3-dev", "libgc3-nccl", "python3-gc3"], packages
    for name, path in packages.items():
        assert control(path, "Version") == options.version
        summary = control(path, "Description").splitlines()[0]
        assert summary.startswith("Programmable GPU collective communication ("), summary
        files = [line.split()[5] for line in run("dpkg-deb", "--contents", path).splitlines()]
        assert all(file.startswith("./usr/") for file in files), files
        assert f"./usr/share/doc/{name}/copyright" in files, files
    assert "libc6" in control(packages["libgc3-0"], "Depends")
    assert "libc6" in control(packages["gc3"], "Depends")
    assert control(packages["libgc3-dev"], "Depends") == f"libgc3-0 (= {options.version})"
    assert ("gc3c compiles" in control(packages["gc3"], "Description")) == bool(options.compiler)
    assert ("gc3_add_bundle" in control(packages["libgc3-dev"], "Description")) == bool(options.compiler)

    root = options.work / "root"
    unpack(options, root, packages["libgc3-0"])
    (library,) = root.rglob("libgc3.so.0")
    assert run("dpkg-deb", "--info", packages["libgc3-0"], "shlibs") == f"libgc3 0 libgc3-0 (>= {options.version})\n"
    check_gin(options)
    linkable = [path for path in root.rglob("*.so") if path.parent == library.parent]
    assert not linkable and not list(root.rglob("*.h")), "these belong to libgc3-dev"
    assert library.resolve().name == f"libgc3.so.{options.version}"

    unpack(options, root, packages["libgc3-0"], packages["libgc3-dev"])
    test_errors(argparse.Namespace(**{**vars(options), "compiler": 0}))

    unpack(options, root, packages["libgc3-nccl"])
    check_front(options)
    check_tuner(options)
    assert "shlibs" not in run("dpkg-deb", "--info", packages["libgc3-nccl"]), "nobody's NCCL comes from it"

    unpack(options, root, *packages.values())
    for tool in ["gc3-run"] + ["gc3c"] * options.compiler:
        assert run(options.prefix / "bin" / tool, "--version") == f"{tool} {options.version}\n"
        page = (options.prefix / f"share/man/man1/{tool}.1").read_text()
        assert page.startswith(f".TH {tool.upper()} 1")
        assert all(f"\n.SH {section}\n" in page for section in ("EXIT STATUS", "ENVIRONMENT", "EXAMPLES"))
        assert "complete -o filenames -F" in (options.prefix / f"share/bash-completion/completions/{tool}").read_text()
        assert (options.prefix / f"share/zsh/vendor-completions/_{tool}").read_text().startswith(f"#compdef {tool}\n")
    assert "GC3_BUNDLES" in (options.prefix / "share/man/man7/gc3-environment.7").read_text()
    if options.compiler:
        project = Project(options, "deb", "-GNinja", "-DRANKS=2")
        project.configure()
        project.make()
        project.test(2)
        check_python_packages(options, packages)


PYTHON_SCRIPT = """
import gc3
bundle = gc3.compile('''
program pair implements allreduce(ranks = 2, chunks = 1) {
    chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
}''')
print(gc3.__version__, gc3.run(bundle, [[1, 2], [10, 20]]), len(bundle.simulate("line:2", max_bytes=1024)))
try:
    gc3.compile("program p {")
except gc3.CompileError as error:
    print(error.diagnostics[0].id)
"""


def check_python(options, root):
    """Runs the Python package in a bare root folder."""
    root.complete()
    assert root.run(PYTHON_SCRIPT) == f"{options.version} [[11, 22], [11, 22]] 1\nsyntax\n"


def check_python_packages(options, packages):
    """Checks python3-gc3, and runs it in a root folder with the Debian packages of this build."""
    assert all(script in run("dpkg-deb", "--info", packages["python3-gc3"]) for script in ("postinst", "prerm"))
    assert control(packages["python3-gc3"], "Architecture") == "all"
    assert control(packages["python3-gc3"], "Depends") == f"python3 (>= 3.9), libgc3-0 (= {options.version})"
    missing = bare_root.missing()
    if missing:
        print(f"the Python package was not run: this machine lacks {', '.join(missing)}")
        return
    root = bare_root.BareRoot(options.work / "bare-deb")
    for name in ("libgc3-0", "gc3", "python3-gc3"):
        run("dpkg-deb", "--extract", packages[name], root.top)
    assert (root.packages / "gc3/py.typed").exists()
    check_python(options, root)


def make_wheel(options, build):
    """Returns the path of a new wheel, which contains the binaries of a build folder unless `build` is empty."""
    source, wheels = options.work / "python", options.work / "wheels"
    for folder in (source, wheels):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(options.source / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    run(bare_root.PYTHON, "-m", "pip", "wheel", "--no-build-isolation", "--no-index", "--no-deps", "-w", wheels, source,
        env=dict(os.environ, GC3_BUILD=str(build)))
    (wheel,) = wheels.iterdir()
    return wheel


def test_wheel(options):
    missing = bare_root.missing()
    if not missing and subprocess.run([bare_root.PYTHON, "-c", "import setuptools, wheel, pip"], check=False).returncode:
        missing = ["Debian's python3-pip, python3-setuptools and python3-wheel"]
    if missing or not options.compiler:
        print(f"skipped: this test needs {', '.join(missing) or 'gc3c'}")
        sys.exit(SKIPPED)
    for build, platform in (("", "any"), (options.build, f"linux_{options.machine}")):
        wheel = make_wheel(options, build)
        assert wheel.name == f"gc3-{options.version}-py3-none-{platform}.whl", wheel
        root = bare_root.BareRoot(options.work / f"bare-wheel-{platform}")
        run(bare_root.PYTHON, "-m", "pip", "install", "--no-index", "--no-deps", "--target", root.packages, wheel)
        if not build:  # this wheel uses the libgc3 and the tools that are installed
            shutil.copytree(options.prefix, root.top / "usr", symlinks=True, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("dist-packages"))
        check_python(options, root)


TESTS = {"install": test_install, "cmake": test_cmake, "documentation": test_documentation, "errors": test_errors,
         "pkg-config": test_pkg_config, "subdirectory": test_subdirectory, "deb": test_deb, "wheel": test_wheel}
SKIPPED = 77  # the value in CMakeLists.txt

parser = argparse.ArgumentParser()
parser.add_argument("test", choices=TESTS)
parser.add_argument("--source", type=pathlib.Path, required=True, help="gc3's source tree")
parser.add_argument("--build", type=pathlib.Path, required=True, help="gc3's build tree")
parser.add_argument("--work", type=pathlib.Path, required=True, help="a directory to work in; the installed tree is its prefix/")
parser.add_argument("--version", required=True, help="what must have been installed")
parser.add_argument("--compiler", type=int, default=1, help="whether gc3c must have been installed")
parser.add_argument("--cc", default="cc")
parser.add_argument("--machine", default=os.uname().machine)
parser.add_argument("--nccl", default="", help="an NCCL that the build has found")
parser.add_argument("--gin", type=int, default=0, help="whether the build has libgc3gin.so")
parser.add_argument("--generator", default="Ninja")
arguments = parser.parse_args()
arguments.prefix = arguments.work / "prefix"
arguments.work.mkdir(parents=True, exist_ok=True)
TESTS[arguments.test](arguments)
