"""snippets.py FILE.md OUT: writes each ```gc3 block of a page to OUT/<n>.gc3 and compiles it."""
import os
import re
import subprocess
import sys

text = open(sys.argv[1]).read()
blocks = re.findall(r"^```gc3\n(.*?)^```", text, re.S | re.M)
os.makedirs(sys.argv[2], exist_ok=True)
for number, block in enumerate(blocks):
    if "program " not in block:
        block += "program nothing implements allreduce(ranks = 1, chunks = 1, inplace = true) { }\n"
    path = os.path.join(sys.argv[2], f"{number}.gc3")
    open(path, "w").write(block)
    subprocess.run(["gc3c", "--emit=chunk-dag", path], check=True, stdout=subprocess.DEVNULL)
print(len(blocks), "snippets compile")
