"""Interrupts a search when it has found its first program, and prints the messages and the programs in the file."""
import signal
import subprocess

search = subprocess.Popen(["gc3-synth", "--topology=dgx1", "--collective=allgather", "--pareto", "-o", "stopped.gc3"], stderr=subprocess.PIPE, text=True)
print(search.stderr.readline(), end="", flush=True)
search.send_signal(signal.SIGINT)
print(search.stderr.read(), end="")
print("exit", search.wait())
with open("stopped.gc3", encoding="utf-8") as file:
    print(*(line for line in file if line.startswith("program")), sep="")
