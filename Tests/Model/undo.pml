/* How a user's undo stack stays one stack, although each of the user's sessions has a copy of its top and any committer
 * may write any of them.
 *
 * Names are those of Services/Committer/README.md: one user with two sessions (two devices), two committers that both
 * serve the shard, and PostgreSQL. A committer reads, decides and writes as separate steps, and may go on deciding on
 * what it has cached until a write fails. `truth` is the stack as it should be, kept apart from what the product stores.
 *
 * A mutation is switched on with -D and must make the check fail; README.md lists them.
 */

#ifndef STEPS
#define STEPS 5
#endif
#define SESSIONS 2
#define COMMITTERS 2

/* ---- PostgreSQL. One row per transaction: the shard's version is also the number of the newest row. ---- */
byte version;
byte next[STEPS + 2];
byte undoVersion[SESSIONS];
byte undoHead[SESSIONS];

/* ---- The stack as it should be: the rows of its entries. ---- */
byte truth[STEPS + 2];
byte depth;

/* The copy that counts: the one that has changed most often. */
inline readStacks(s) {
    cachedVersion = version;
#ifdef OWN_COPY
    stackVersion = undoVersion[s]; head = undoHead[s];
#else
    if
    :: undoVersion[0] >= undoVersion[1] -> stackVersion = undoVersion[0]; head = undoHead[0]
    :: else -> stackVersion = undoVersion[1]; head = undoHead[1]
    fi;
#endif
    isKnown = true
}

/* commit_batch: the row, and the stacks in the session's row, on the compared version. */
inline write(s, isUndo) {
    atomic {
        if
#ifdef BLIND_WRITE
        :: version < STEPS ->
#else
        :: version < STEPS && version == cachedVersion ->
#endif
            version++;
            if
            :: isUndo ->
                assert(depth > 0 && truth[depth - 1] == head);
                depth--;
                head = next[head]
            :: else ->
                next[version] = head;
                head = version;
                truth[depth] = version;
                depth++
            fi;
#ifndef STALE_VERSION
            stackVersion++;
#endif
            undoVersion[s] = stackVersion;
            undoHead[s] = head;
            cachedVersion = version
        :: else -> isKnown = false
        fi
    }
}

active [COMMITTERS] proctype Committer() {
    byte cachedVersion, stackVersion, head, s;
    bool isKnown;
    do
    :: version >= STEPS -> break
    :: version < STEPS ->
        if
        :: s = 0
        :: s = 1
        fi;
        if
        :: isKnown
        :: !isKnown -> atomic { readStacks(s) }
        fi;
        if
        :: write(s, false)
        :: head > 0 -> write(s, true)
        fi
    od
}
