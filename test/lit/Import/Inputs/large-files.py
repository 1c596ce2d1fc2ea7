# SPDX-License-Identifier: Apache-2.0
"""Writes malicious XML files of 10 MB, and one file in Latin-1, into the working directory."""
import random

SIZE = 10_000_000
HEAD = b'<algo name="a" proto="LL" coll="custom" nchunksperloop="1" '


def write(name, content):
    with open(f"{name}.xml", "wb") as file:
        file.write(content)


write("deep", HEAD + b'ngpus="1">\n' + b'<gpu id="0">\n' * (SIZE // 13))
write("other", b"<a>\n" * (SIZE // 4))
write("garbage", b"<" + random.Random(1).randbytes(SIZE))
write("names", HEAD + b'ngpus="0" ' + b" ".join(b'a%d=""' % i for i in range(SIZE // 10)) + b"></algo>")
write("value", HEAD + b'ngpus="' + b"1" * SIZE + b'"></algo>')
write("comment", b"<!--" + b" x" * (SIZE // 2) + b"-->\n")
write("zeros", b"\0" * SIZE)
write("open", HEAD + b" " * SIZE)
write("latin", HEAD + b'ngpus="\xe4"/>')
