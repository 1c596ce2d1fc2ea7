# SPDX-License-Identifier: Apache-2.0
"""interrupt.py SIGNAL: ends gc3c in the middle of writing, and says what it has left behind.

Its -MF is a pipe: there it must wait, with the bundle written but not yet in its place, for a reader that never takes all of a rule
that is longer than what a pipe holds. So the signal finds it there, however fast or slow it is.
"""
import os
import signal
import subprocess
import sys
import tempfile

number = getattr(signal, sys.argv[1])
signal.signal(number, signal.SIG_DFL)  # who starts tests in the background may have them ignore it, and it is inherited
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("empty.gc3", "w"):
        pass
    with open("main.gc3", "w") as file:
        for name in range(200):
            deep = "./" * 1000 + f"empty{name}.gc3"
            open(deep, "w").close()
            file.write(f'import "{deep}";\n')
        file.write("program p implements allreduce(ranks = 1, chunks = 1, inplace = true) { }\n")
    with open("out.gc3b", "w") as file:
        file.write("good\n")
    os.mkfifo("rule")
    process = subprocess.Popen(["gc3c", "main.gc3", "-o", "out.gc3b", "-MD", "-MF", "rule"])
    reader = open("rule", "rb")  # gc3c is there, too
    halfway = sorted(name for name in os.listdir() if name.startswith("out"))
    print(f"while it writes: {len(halfway)} files of that name")
    process.send_signal(number)
    try:
        code = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("it goes on")
    reader.close()
    print("ended by", signal.Signals(-code).name if code < 0 else f"exit {code}")
    with open("out.gc3b") as file:
        print("files left:", *sorted(name for name in os.listdir() if name.startswith("out")), "with", file.read().strip())
