/* SPDX-License-Identifier: Apache-2.0
 * Model of runtime/select/Schedule.h: three ranks make the same calls, exchange times, and apply each exchange at an
 * agreed call. Times and lags are arbitrary, and exchanges end at arbitrary moments. Rank 2 makes its first call at an
 * arbitrary moment. One rank, or the transport of one rank, may stall forever. The application may abort. If `gated`,
 * the GPUs begin no call before all ranks have enqueued all calls.
 *
 * Checked: all ranks have equal states at equal calls, and apply each exchange at the same call. If a rank waits
 * forever, a rank or the transport has stalled, and there was no abort. With -DFAULT, a fault changes the state of one
 * rank instead: no rank makes the call for which the next exchange is due, and the error names the rank.
 *
 * check_models.py has a table of macros. Each one breaks a rule, and must give a counterexample.
 */
#define RANKS 3
#ifndef CALLS
#define CALLS 8
#endif
#define PERIOD 2
#define EXCHANGES ((CALLS + PERIOD - 1) / PERIOD)
#define SHORT 1 /* the delay, if all lags are 0; also the delay of the first exchanges */
#define LONG 3  /* the delay, if a lag is 1; longer than a period */

/* By rank. */
byte call[RANKS];                                    /* the next call */
byte begun[RANKS], delivered[RANKS], applied[RANKS]; /* numbers of exchanges */
byte state[RANKS];                                   /* the last two samples */
byte delay[RANKS] = SHORT;
bit over[RANKS]; /* after an error */

/* All ranks compute these values. The first rank stores them, the others compare. */
byte choice[CALLS];  /* by call: what the choice depends on, plus 1; 0: no rank makes this call, or all have made it */
byte due[EXCHANGES]; /* by exchange: the call that applies it; 0: it has not begun */

/* By exchange: what its messages contain. Times and lags are bits. */
bit sample[EXCHANGES], lag[EXCHANGES]; /* the longest time, the largest lag */
#if defined(OWN_TIMES) || defined(OWN_LAG)
bit ownTime[RANKS * EXCHANGES], ownLag[RANKS * EXCHANGES];
#endif
#ifdef FAULT
byte digest[RANKS * EXCHANGES];
bit flipped;
byte faulty, firstWrong = EXCHANGES; /* the rank; its first exchange after the fault */
#endif

bit stalled, rankStalled, aborted, gated;
byte lost = RANKS; /* the rank that receives no exchange; RANKS: none */

#define hasFinished(r) (call[r] == CALLS || over[r])
#define isDue(r) (applied[r] < begun[r] && due[applied[r]] <= call[r])
#define allEnqueued (call[0] == CALLS && call[1] == CALLS && call[2] == CALLS)

/* A message waits for its times, at most until the exchange is due. */
#ifdef WAIT_FOR_TIMES
#define hasSent(r, k) (begun[r] > k && (!gated || allEnqueued))
#else
#define hasSent(r, k) (begun[r] > k && (!gated || allEnqueued || due[k] <= call[r]))
#endif
#define canDeliver(r)                                                                                                  \
  (lost != r && delivered[r] < EXCHANGES && hasSent(0, delivered[r]) && hasSent(1, delivered[r]) &&                    \
   hasSent(2, delivered[r]))

#ifdef AT_ARRIVAL
#define mayApply(r) (applied[r] < delivered[r])
#else
#define mayApply(r) (isDue(r) && applied[r] < delivered[r])
#endif
#if defined(NO_WAIT) || defined(SKIP_LATE)
#define mustWait(r) mayApply(r)
#else
#define mustWait(r) (isDue(r) || mayApply(r))
#endif
#ifdef NO_ABORT
#define stops(r) (aborted && !isDue(r))
#else
#define stops(r) aborted
#endif

inline compareDigests(r) {
  skip;
#if defined(FAULT) && !defined(IGNORE_DIGEST)
  k = applied[r] * RANKS;
  if
  :: digest[k] == digest[k + 1] && digest[k] == digest[k + 2] -> skip
  :: else ->
     /* The error names the rank that differs from the others. */
     assert(flipped && digest[k + (faulty + 1) % RANKS] == digest[k + (faulty + 2) % RANKS]);
     over[r] = 1
  fi
#endif
}

inline applyExchange(r) {
  k = applied[r];
#ifdef OWN_TIMES
  state[r] = (state[r] * 2 + ownTime[r * EXCHANGES + k]) % 4;
#else
  state[r] = (state[r] * 2 + sample[k]) % 4;
#endif
#ifdef OWN_LAG
  delay[r] = (ownLag[r * EXCHANGES + k] -> LONG : SHORT);
#else
  delay[r] = (lag[k] -> LONG : SHORT);
#endif
  applied[r]++;
  if /* forgets what no rank needs */
  :: applied[0] > k && applied[1] > k && applied[2] > k -> sample[k] = 0; lag[k] = 0
  :: else
  fi
}

inline choose(r) {
  k = 1 + state[r] + 4 * applied[r];
#ifdef FAULT
  assert(firstWrong == EXCHANGES || call[r] < due[firstWrong]);
  assert(flipped || choice[call[r]] == 0 || choice[call[r]] == k);
#else
  assert(choice[call[r]] == 0 || choice[call[r]] == k);
#endif
  choice[call[r]] = k;
  if
  :: call[0] + (r == 0) > call[r] && call[1] + (r == 1) > call[r] && call[2] + (r == 2) > call[r] -> choice[call[r]] = 0
  :: else
  fi
}

inline beginExchange(r) {
  k = begun[r];
  wanted = call[r] + delay[r];
  if
  :: k > 0 -> if
     :: due[k - 1] > wanted -> wanted = due[k - 1]
     :: else
     fi
  :: else
  fi;
  assert(due[k] == 0 || due[k] == wanted);
  due[k] = wanted;
  wanted = 0;
  if /* this rank's time */
  :: true
  :: sample[k] = 1;
#if defined(OWN_TIMES)
     ownTime[r * EXCHANGES + k] = 1;
#endif
  fi;
  if /* this rank's lag */
  :: true
  :: lag[k] = 1;
#if defined(OWN_LAG)
     ownLag[r * EXCHANGES + k] = 1;
#endif
  fi;
#ifdef FAULT
  digest[k * RANKS + r] = state[r];
  if
  :: flipped && r == faulty && firstWrong == EXCHANGES -> firstWrong = k
  :: else
  fi;
#endif
  begun[r]++
}

proctype Rank(byte r) {
  byte k = 0, wanted = 0;
end: /* Monitor decides whether a rank may wait */
  do
  :: atomic { call[r] < CALLS && !over[r] && mayApply(r) ->
       compareDigests(r);
       if
       :: !over[r] -> applyExchange(r)
       :: else
       fi;
       k = 0
     }
  :: atomic { call[r] < CALLS && !over[r] && !mustWait(r) ->
#ifdef SKIP_LATE
       if
       :: isDue(r) -> applied[r]++
       :: else
       fi;
#endif
       choose(r);
       if
       :: call[r] % PERIOD == 0 -> beginExchange(r)
       :: else
       fi;
       k = 0;
       call[r]++
     }
  :: atomic { call[r] < CALLS && !over[r] && stops(r) -> over[r] = 1 }
#ifdef STALLS
  :: atomic { call[r] < CALLS && !over[r] && !stalled -> stalled = 1; rankStalled = 1; break }
#endif
  :: call[r] == CALLS || over[r] -> break
  od
}

proctype Transport() {
end:
  do
  :: atomic { canDeliver(0) -> delivered[0]++ }
  :: atomic { canDeliver(1) -> delivered[1]++ }
  :: atomic { canDeliver(2) -> delivered[2]++ }
#ifdef STALLS
  :: atomic { !stalled -> stalled = 1; lost = 0 }
  :: atomic { !stalled -> stalled = 1; lost = 1 }
  :: atomic { !stalled -> stalled = 1; lost = 2 }
#endif
  od
}

proctype Application() {
#ifdef FAULT
  atomic {
    if
    :: faulty = 0
    :: faulty = 1
    :: faulty = 2
    fi;
    state[faulty] = 3 - state[faulty];
    flipped = 1
  }
#endif
#ifdef STALLS
  if
  :: aborted = 1
  :: true
  fi
#endif
  skip
}

proctype Monitor() {
  timeout -> assert(hasFinished(0) + hasFinished(1) + hasFinished(2) + rankStalled == RANKS || (stalled && !aborted))
}

init {
  atomic {
    if
    :: gated = 0
    :: gated = 1
    fi;
    run Monitor();
    run Transport();
    run Application();
    run Rank(0);
    run Rank(1)
  }
  run Rank(2)
}
