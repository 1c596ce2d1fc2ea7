# SPDX-License-Identifier: Apache-2.0
# 20 thread blocks of rank 0 write one slot each, and 20 other thread blocks read all of these slots. Only a message
# that goes from rank to rank and back orders the writes before the reads. So there are 400 pairs of steps, each over a
# long path.
function block(head, step) { print "  tb " count++ " channel 0" head "\n    0: " step }
BEGIN {
  n = 20
  print "gc3-ir far implements far ranks " n "\nbuffers input[1] output[" n "] tmp\nensures output(0, 0) == input(0, 0)"
  print "rank 0: input 1 output " n " tmp " n * n + 1
  for (i = 0; i < n; ++i) {
    block("", "copy input[0] -> output[" i "]")
    all = all (i ? ", " : "") i ".0"
  }
  block(" send 1", "send input[0] after " all)
  block(" recv " n - 1, "recv -> tmp[0]")
  for (i = 0; i < n; ++i)
    block("", "copy output[0.." n "] -> tmp[" 1 + i * n ".." 1 + i * n + n "] after " n + 1 ".0")
  for (rank = 1; rank < n; ++rank) {
    count = 0
    print "rank " rank ": tmp 1"
    block(" recv " rank - 1, "recv -> tmp[0]")
    block(" send " (rank + 1) % n, "send tmp[0] after 0.0")
  }
}
