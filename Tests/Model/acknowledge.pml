/* How a commit is acknowledged and how a room's stream stays gapless, as far as the order of steps matters.
 *
 * Names are those of Services/README.md: two apps in sessions of their own, two committers that both serve the one shard,
 * PostgreSQL, and the fan-out. (A gateway proves a room's seq against the fan-out as the fan-out proves it against the log.)
 * Faults come from a budget, so that the search ends: FAULTS of them, wherever they hurt most.
 *
 * A mutation is switched on with -D and must make the check fail; README.md lists them.
 */

#ifndef SESSIONS
#define SESSIONS 2
#endif
#ifndef COMMITS
#define COMMITS 2
#endif
#ifndef COMMITTERS
#define COMMITTERS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#define ROWS (SESSIONS * COMMITS)
/* The place of commit n of session s in arrays of one entry per commit. */
#define NAME(s, n) ((s) * COMMITS + (n) - 1)

byte faults = FAULTS;

/* ---- PostgreSQL: what is committed. One row per transaction, so the shard's version is also the room's seq. ---- */
byte version;
byte highest[SESSIONS];
/* Session and number of the commit that wrote a row; one place more than there may be rows, for mutants. */
byte logSession[ROWS + 2];
byte logNumber[ROWS + 2];
byte rowsOf[ROWS];

/* A transaction whose connection is gone while the server still works on it: it may commit later, or never. */
bool open;
byte openVersion, openSession, openNumber;

/* commit_batch: a compare-and-set on the shard's row. The unlocked mutant leaves out the comparison. */
inline commitBatch(expected, s, n, written) {
#ifdef BLIND_WRITE
    if
    :: version <= ROWS -> written = true
    :: else -> written = false
    fi;
#else
    written = (expected == version);
#endif
    if
    :: written ->
        version++;
        logSession[version] = s;
        logNumber[version] = n;
        rowsOf[NAME(s, n)]++;
        assert(rowsOf[NAME(s, n)] == 1);
        if
        :: n > highest[s] -> highest[s] = n
        :: else
        fi
    :: else
    fi
}

/* ---- Links. Commits travel to either committer; results and hints (Update) come back. No step is needed for loss and
 * repetition: an app may send late or often, what finds a full channel is lost, and a committer may hold what it received
 * while the other one and the apps go on, so that messages overtake each other. ---- */
chan commits = [1] of { byte, byte };
chan results[SESSIONS] = [1] of { byte };
chan hints = [1] of { byte, byte, byte };

/* A result that finds no room is lost; the gateway asks again. */
inline reply(s, n) {
    atomic {
        if
        :: nfull(results[s]) -> results[s]!n
        :: full(results[s])
        fi
    }
}

/* ---- What the promises speak of ---- */
byte acknowledged;
byte cursor;
/* Numbers that no commit of the stream gets; with HOLES only. */
byte passedOver;

/* An app and its gateway: until there is a result, the commit may go out again at any time, under the same number.
 *
 * With HOLES the gateway numbers the app's commits, when it first sends them and one at a time: a number may also have gone
 * to a commit in another room. */
proctype App(byte s) {
    byte n = 1, answer;
    bool isSent;
    do
    :: atomic { n <= COMMITS && empty(results[s]) && nfull(commits) -> commits!s, n; isSent = true }
#ifdef HOLES
    :: atomic { n < COMMITS && !isSent -> n++; passedOver++ }
#endif
#ifdef TWO_IN_FLIGHT
    :: atomic { n < COMMITS && isSent && empty(results[s]) && nfull(commits) -> commits!s, n + 1 }
#endif
    :: atomic { n <= COMMITS && nempty(results[s]) ->
            results[s]?answer;
            if
            :: answer == n ->
                /* Promise 1: acknowledged is durable, once. */
                assert(rowsOf[NAME(s, n)] == 1);
                acknowledged++;
                n++;
                isSent = false
            :: else
            fi;
            answer = 0
        }
    :: n > COMMITS -> break
    od
}

/* What a committer knows of the shard is worth nothing after a failure. */
inline forget() {
    loaded = false;
    known = 0;
    knownHighest[0] = 0;
    knownHighest[SESSIONS - 1] = 0
}

inline load() {
    if
    :: !loaded ->
        known = version;
        knownHighest[0] = highest[0];
        knownHighest[SESSIONS - 1] = highest[SESSIONS - 1];
        loaded = true
    :: else
    fi
}

/* A committer: decides from what it knows of the shard, writes by compare-and-set, and only then tells. */
proctype Committer() {
    byte known, knownHighest[SESSIONS], s, n;
    bool loaded, written;
end:
    do
    :: atomic { commits?s, n -> load() };
decide:
        if
#ifdef HOLES
        :: atomic { n == knownHighest[s] -> reply(s, n) } /* the last one: its result again */
        :: atomic { n < knownHighest[s] -> skip } /* stale: the gateway has had its result */
        :: atomic { n > knownHighest[s] -> skip };
#elif !defined(NO_DEDUPLICATION)
        :: atomic { n <= knownHighest[s] -> reply(s, n) } /* used before: its first result again */
        :: atomic { n > knownHighest[s] + 1 -> skip } /* a gap: retryable, and the app still holds the one before */
        :: atomic { n == knownHighest[s] + 1 -> skip };
#else
        :: true ->
#endif
#ifdef ACK_BEFORE_COMMIT
            reply(s, n);
#endif
            if
            :: atomic { commitBatch(known, s, n, written);
                if
                :: written -> known++; knownHighest[s] = n; written = false
                :: else -> forget(); load(); goto decide /* another committer was faster */
                fi };
                if
                :: reply(s, n)
                :: atomic { faults > 0 -> faults-- } /* the result is lost */
                fi;
                atomic {
                    if
                    :: nfull(hints) -> hints!known, s, n
                    :: full(hints)
                    :: faults > 0 -> faults--; forget() /* killed: the update was never published */
                    fi
                }
            :: atomic { faults > 0 -> faults--; commitBatch(known, s, n, written); written = false;
                forget(); load(); goto decide /* COMMIT's reply is lost: unknown, so decide again on fresh knowledge */ }
            :: atomic { faults > 0 && !open ->
                faults--; open = true; openVersion = known; openSession = s; openNumber = n;
                forget(); load(); goto decide /* connection lost, the transaction still open in the server */ }
            :: atomic { faults > 0 -> faults--; forget() } /* killed before the transaction: all forgotten */
            fi
        fi;
        atomic { s = 0; n = 0 }
    od
}

/* The server's side of a lost connection. */
proctype Zombie() {
    bool written;
end:
    do
    :: atomic { open -> commitBatch(openVersion, openSession, openNumber, written);
        open = false; openVersion = 0; openSession = 0; openNumber = 0; written = false }
    :: atomic { open -> open = false; openVersion = 0; openSession = 0; openNumber = 0 }
    od
}

/* Promise 2, at the fan-out: what it passes on continues its cursor and is what PostgreSQL holds. */
inline pass(seq, s, n) {
    assert(seq == cursor + 1);
    assert(logSession[seq] == s && logNumber[seq] == n);
    cursor = seq
}

/* The fan-out: hints in order at once, holes and a head that is ahead from the log. It may be killed and start anew. */
proctype Fanout() {
    byte seq, s, n;
end:
    do
    :: atomic { hints?seq, s, n ->
        if
#ifdef TRUST_HINTS
        :: seq > cursor -> pass(seq, s, n)
#else
        :: seq == cursor + 1 -> pass(seq, s, n)
#endif
        :: else
        fi;
        seq = 0; s = 0; n = 0 }
#ifndef NO_HEADS
    :: atomic { cursor < version -> pass(cursor + 1, logSession[cursor + 1], logNumber[cursor + 1]) }
#endif
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. SESSIONS - 1) { run App(i) }
        for (i : 1 .. COMMITTERS) { run Committer() }
        run Zombie();
        run Fanout()
    }
}

ltl all_resolve { <> (acknowledged + passedOver == ROWS && cursor == acknowledged) }
