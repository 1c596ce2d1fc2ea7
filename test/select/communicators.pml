/* SPDX-License-Identifier: Apache-2.0
 * Model of exchanges on two communicators of three ranks. Each rank has one thread for each communicator, so ranks begin
 * exchanges of the two communicators in different orders. The second communicator is created at any moment. A call
 * waits for each exchange. An exchange ends when all ranks take part in it.
 *
 * Checked: no rank waits forever. With -DSERIAL, a rank takes part in one exchange at a time, in the order in which it
 * has begun them.
 */
#define RANKS 3
#ifndef CALLS
#define CALLS 3
#endif

byte begun[RANKS * 2], ended[RANKS * 2]; /* by rank and communicator: numbers of exchanges */
byte ranks[CALLS * 2];                   /* by exchange and communicator: the ranks that take part, or have */
chan queues[RANKS] = [CALLS * 2] of { byte };

#define hasFinished(r, c) (ended[(r) * 2 + c] == CALLS)

inline takePart(r, c) {
  ranks[ended[r * 2 + c] * 2 + c]++;
  ranks[ended[r * 2 + c] * 2 + c] == RANKS; /* waits */
  ended[r * 2 + c]++
}

proctype Caller(byte r; byte c) {
end: /* Monitor decides whether a rank may wait */
  do
  :: atomic { begun[r * 2 + c] < CALLS && begun[r * 2 + c] == ended[r * 2 + c] -> begun[r * 2 + c]++; queues[r] ! c }
  :: hasFinished(r, c) -> break
  od
}

#ifdef SERIAL
proctype Executor(byte r) {
  byte c;
end:
  do
  :: queues[r] ? c -> takePart(r, c); c = 0
  od
}
#else
proctype Executor(byte r; byte c) {
end:
  do
  :: queues[r] ?? [eval(c)] -> atomic { queues[r] ?? eval(c) }; takePart(r, c)
  od
}
#endif

proctype Monitor() {
  timeout -> assert(hasFinished(0, 0) && hasFinished(0, 1) && hasFinished(1, 0) && hasFinished(1, 1) &&
                    hasFinished(2, 0) && hasFinished(2, 1))
}

init {
  byte r = 0;
  atomic {
    run Monitor();
    do
    :: r < RANKS ->
#ifdef SERIAL
       run Executor(r);
#else
       run Executor(r, 0);
       run Executor(r, 1);
#endif
       run Caller(r, 0);
       r++
    :: else -> r = 0; break
    od
  }
  do /* creates the second communicator */
  :: r < RANKS -> run Caller(r, 1); r++
  :: else -> break
  od
}
