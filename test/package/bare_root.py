# SPDX-License-Identifier: Apache-2.0
"""A folder with Python and the libraries that programs need, for chroot. Programs see nothing else there."""
import os
import pathlib
import re
import shutil
import subprocess

PYTHON = pathlib.Path("/usr/bin/python3")


def missing():
    """Returns what this machine lacks: the right to change the root, or the system's Python."""
    lacks = [] if PYTHON.exists() else [str(PYTHON)]
    allowed = subprocess.run([*_chroot(), "/", "/bin/true"], check=False, stderr=subprocess.DEVNULL)
    return lacks + ["the right to call chroot"] * (allowed.returncode != 0)


def _chroot():
    """Returns the command that changes the root; not as root in a new user namespace."""
    command = [shutil.which("chroot", path=f"{os.defpath}:/usr/sbin") or "chroot"]
    return command if os.geteuid() == 0 else [shutil.which("unshare") or "unshare", "--map-root-user", *command]


def _libraries(program):
    """Returns the paths of the shared libraries that a program or a library needs, and of its loader."""
    done = subprocess.run(["ldd", program], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return re.findall(r"(/[^ ]+) \(0x", done.stdout)


class BareRoot:
    """Makes the folder `top`. Programs can be added under its `usr` before `complete` copies their libraries."""

    def __init__(self, top):
        self.top = top
        shutil.rmtree(top, ignore_errors=True)
        for folder in ("usr/bin", "usr/lib", "usr/lib64", "tmp", "root"):
            (top / folder).mkdir(parents=True)
        for folder in ("bin", "lib", "lib64"):
            (top / folder).symlink_to(f"usr/{folder}")
        self.python = PYTHON.resolve()
        shutil.copy(self.python, top / "usr/bin/python3")
        version = self.python.name  # python3.11
        shutil.copytree(f"/usr/lib/{version}", top / f"usr/lib/{version}", symlinks=True,
                        ignore=shutil.ignore_patterns("test", "__pycache__", "dist-packages", "config-*"))
        self.packages = top / "usr/lib/python3/dist-packages"

    def complete(self):
        """Copies the libraries of all programs and libraries in the folder, except those that it has."""
        programs = [path for path in (self.top / "usr").rglob("*")
                    if path.is_file() and (os.access(path, os.X_OK) or ".so" in path.name)]
        for library in {library for program in programs for library in _libraries(program)}:
            target = self.top / library.lstrip("/")
            if not target.exists() and not library.startswith(str(self.top)):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, target)

    def run(self, script, **environment):
        """Runs a Python script with this folder as its root and without other variables. Returns its output."""
        done = subprocess.run([*_chroot(), self.top, "/usr/bin/python3", "-c", script], check=False, text=True,
                              env={"PATH": "/usr/bin", "HOME": "/root", **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        print(f"$ python3 in {self.top}\n{done.stdout}", flush=True)
        done.check_returncode()
        return done.stdout
