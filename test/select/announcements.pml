/* SPDX-License-Identifier: Apache-2.0
 * Model of runtime/select/Schedule.h with announcedTerms: three ranks announce each call with their choice and their time
 * of the previous call. A rank runs a call after it has read all announcements of the call, one after the other. A call
 * may end on a rank before other ranks begin it. Times are arbitrary. Rank 2 makes its first call at an arbitrary
 * moment. A rank may stall forever, and the application may abort.
 *
 * Checked: ranks that run a call have made the same choice. If a rank waits forever, a rank has stalled, and there was
 * no abort. With -DFAULT, a fault changes the state of one rank: all ranks fail before they run a call with different
 * choices, and the error names the rank.
 *
 * check_models.py has a table of macros. Each one breaks a rule, and must give a counterexample.
 */
#define RANKS 3
#ifndef CALLS
#define CALLS 6
#endif
#ifdef ONE_SLOT
#define SLOTS 1
#else
#define SLOTS 2
#endif

/* By rank and slot. */
byte number[RANKS * SLOTS];    /* the announced call plus 1 */
byte announced[RANKS * SLOTS]; /* its choice */
bit time[RANKS * SLOTS];       /* the rank's time of the previous call */

byte call[RANKS];
bit over[RANKS];
byte running[CALLS]; /* by call: the choice that some rank runs, plus 1 */
bit stalled, aborted, flipped;
byte faulty = RANKS;

#define at(r, c) ((r) * SLOTS + (c) % SLOTS)
#define hasFinished(r) (call[r] == CALLS || over[r])
#ifdef NO_ABORT
#define stops 0
#else
#define stops aborted
#endif

proctype Rank(byte r) {
  byte state = 0; /* the last two samples; a choice is the state */
  byte k = 0, choice = 0;
  bit sample = 0, next = 0, own = 0;
end: /* Monitor decides whether a rank may wait */
  do
  :: atomic { call[r] < CALLS && !over[r] && k == 0 -> /* choose, and announce */
#ifdef OWN_TIMES
       state = (state * 2 + own) % 4;
#elif defined(AT_ARRIVAL) /* of the previous call, as far as known */
       do
       :: k < RANKS -> sample = sample | (time[at(k, call[r])] && number[at(k, call[r])] == call[r] + 1); k++
       :: else -> break
       od;
       state = (state * 2 + sample) % 4;
       k = 0;
#else
       state = (state * 2 + sample) % 4; /* of the call before the previous one */
#endif
       sample = 0;
#ifdef FAULT
       if
       :: flipped && r == faulty -> state = 3 - state; flipped = 0
       :: else
       fi;
#endif
       choice = state;
       number[at(r, call[r])] = call[r] + 1;
       announced[at(r, call[r])] = choice;
       time[at(r, call[r])] = own;
       own = 0;
       k = 1
     }
  :: atomic { call[r] < CALLS && !over[r] && k >= 1 && k <= RANKS && number[at(k - 1, call[r])] == call[r] + 1 ->
       sample = sample | time[at(k - 1, call[r])]; /* read the announcement of rank k - 1 */
#ifndef IGNORE_CHOICE
       if
       :: announced[at(k - 1, call[r])] == choice -> k++
       :: else -> assert(faulty == r || faulty == k - 1); over[r] = 1
       fi
#else
       k++
#endif
     }
  :: atomic { call[r] < CALLS && !over[r] && k > RANKS -> /* run */
       assert(running[call[r]] == 0 || running[call[r]] == choice + 1);
       running[call[r]] = choice + 1;
       if
       :: call[0] + (r == 0) > call[r] && call[1] + (r == 1) > call[r] && call[2] + (r == 2) > call[r] -> running[call[r]] = 0
       :: else
       fi;
       if
       :: own = 1
       :: true
       fi;
       call[r]++;
       choice = 0;
       k = 0
     }
  :: atomic { call[r] < CALLS && !over[r] && stops -> over[r] = 1 }
#ifdef STALLS
  :: atomic { call[r] < CALLS && !over[r] && !stalled -> stalled = 1; break }
#endif
  :: hasFinished(r) -> break
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
  timeout -> assert(hasFinished(0) + hasFinished(1) + hasFinished(2) + (stalled && aborted) == RANKS || (stalled && !aborted))
}

init {
  atomic {
    run Monitor();
    run Application();
    run Rank(0);
    run Rank(1)
  }
  run Rank(2)
}
