# SPDX-License-Identifier: Apache-2.0
"""interrupt.py SIGNAL: interrupts gc3c while it writes, and prints which files it leaves.

The file of -MF is a pipe. The rule is longer than a pipe can hold, and the script does not read it to its end. So gc3c
waits in the pipe when the signal arrives, however fast the machine is. The bundle is then written, but not yet renamed.
"""
import os
import signal
import subprocess
import sys
import tempfile

number = getattr(signal, sys.argv[1])
signal.signal(number, signal.SIG_DFL)  # a shell can start tests with ignored signals, and gc3c inherits this
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
    reader = open("rule", "rb")  # returns when gc3c has opened the pipe, too
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
