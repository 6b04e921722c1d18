/* How a group of elements changes as one, although its commit is sent again at any time, committers die at any step, another
 * app changes one of its elements, and previews of its elements travel apart, each behind the other's back.
 *
 * Names are those of Services/README.md: the publisher of a group of two elements, another writer on the second of them, two
 * committers that both serve the shard, PostgreSQL, and the fan-out, which merges the log and the previews into what the
 * room sees. A committer reads, decides and writes as separate steps. Faults come from a budget, so that the search ends.
 *
 * A mutation is switched on with -D and must make the check fail; README.md lists them.
 */

#ifndef FAULTS
#define FAULTS 3
#endif
#ifndef PREVIEWS
#define PREVIEWS 2
#endif
#define COMMITTERS 2
#define ELEMENTS 2
/* Sets of elements. */
#define FIRST 1
#define SECOND 2
#define BOTH 3
/* Commits, as bytes of one array: the publisher's group, and the other writer's. */
#define GROUP 0
#define OTHER 1
/* What became of a commit. */
#define APPLIED 1
#define REFUSED 2

byte faults = FAULTS;

/* ---- PostgreSQL. One version for each transaction, one number for each row of the log. ---- */
byte version;
byte seq;
byte rowCommit[6];
byte rowElements[6];
byte outcome[2];
bool isDeleted;
/* The elements that hold what the group made of them. */
byte grouped;

/* ---- Links: lossy, and in no order between them. ---- */
chan commits = [1] of { byte };
chan results[2] = [1] of { byte };
chan previews[ELEMENTS] = [1] of { bit };

inline insert(commit, elements) {
    seq++;
    rowCommit[seq] = commit;
    rowElements[seq] = elements
}

/* What a committer knows of the shard is worth nothing after a failure. */
inline forget() {
    isKnown = false;
    known = 0;
    knownOutcome[GROUP] = 0;
    knownOutcome[OTHER] = 0;
    knownDeleted = false
}

/* commit_batch: rows, elements and the session's outcome, on the compared version. */
inline write(commit, wanted, isDeletion) {
    atomic {
        if
#ifdef BLIND_WRITE
        :: true ->
#else
        :: version == known ->
#endif
            version++;
            known = version;
            if
            :: commit == GROUP && wanted == APPLIED ->
                /* All its elements exist, and it was not applied before. */
                assert(!isDeleted && outcome[GROUP] == 0);
                grouped = BOTH;
                insert(GROUP, BOTH)
            :: commit == OTHER && wanted == APPLIED ->
                assert(outcome[OTHER] == 0);
                isDeleted = isDeletion;
                insert(OTHER, SECOND)
            :: else
            fi;
            outcome[commit] = wanted;
            knownOutcome[commit] = wanted;
            knownDeleted = knownDeleted || isDeleted;
            wanted = 0
        :: else -> forget()
        fi
    }
}

/* The mutant's way: each element in a transaction of its own. */
inline writeParts(wanted) {
    atomic {
        if
        :: version == known && !isDeleted && outcome[GROUP] == 0 ->
            version++; known = version; grouped = FIRST; insert(GROUP, FIRST)
        :: else -> forget()
        fi
    };
    atomic {
        if
        :: isKnown && version == known ->
            version++; known = version; grouped = BOTH; insert(GROUP, SECOND);
            outcome[GROUP] = wanted; knownOutcome[GROUP] = wanted; wanted = 0
        :: else -> forget()
        fi
    }
}

inline load() {
    if
    :: isKnown
    :: else ->
        known = version;
        knownOutcome[GROUP] = outcome[GROUP];
        knownOutcome[OTHER] = outcome[OTHER];
        knownDeleted = isDeleted;
        isKnown = true
    fi
}

/* A result that finds no room is lost; it will be asked for again. */
inline reply(commit) {
    atomic {
        if
        :: nfull(results[commit]) -> results[commit]!knownOutcome[commit]
        :: full(results[commit])
        :: faults > 0 -> faults--
        fi
    }
}

proctype Committer() {
    byte known, knownOutcome[2], commit, wanted;
    bool isKnown, knownDeleted;
end:
    do
    :: atomic { commits?commit -> load() };
decide:
        if
#ifndef NO_DEDUPLICATION
        :: knownOutcome[commit] != 0 -> reply(commit)
        :: atomic { knownOutcome[commit] == 0 ->
#else
        :: atomic { true ->
#endif
                /* A group with one element that is gone is refused whole. */
                wanted = (commit == GROUP && knownDeleted -> REFUSED : APPLIED) };
            if
#ifdef PARTS
            :: commit == GROUP && wanted == APPLIED -> writeParts(wanted)
            :: commit == OTHER || wanted == REFUSED -> write(commit, wanted, false)
#else
            :: write(commit, wanted, false)
#endif
            :: commit == OTHER -> write(commit, wanted, true)
            :: atomic { faults > 0 -> faults--; forget(); goto done } /* killed before the transaction */
            fi;
            if
            :: isKnown -> reply(commit)
            :: atomic { !isKnown -> load(); goto decide } /* another committer was faster */
            :: atomic { faults > 0 -> faults--; forget() } /* killed behind it, or its outcome is unknown */
            fi
        fi;
done:
        atomic { commit = 0; wanted = 0 }
    od
}

/* An app and its gateway: until there is a result, the commit may go out again at any time. */
inline send(commit) {
    do
    :: atomic { empty(results[commit]) && nfull(commits) -> commits!commit }
    :: results[commit]?answer -> break
    od
}

proctype Publisher() {
    byte sent, answer;
    do
    :: sent < PREVIEWS ->
        sent++;
        /* One message, which its gateway makes into a preview for each element; one that waits is folded. */
        if :: nfull(previews[0]) -> previews[0]!1 :: full(previews[0]) fi;
        if :: nfull(previews[1]) -> previews[1]!1 :: full(previews[1]) fi
    :: break
    od;
    send(GROUP);
    /* Answered is final: applied whole, or refused whole. */
    assert((answer == APPLIED && grouped == BOTH) || (answer == REFUSED && grouped == 0))
}

proctype Writer() {
    byte answer;
    send(OTHER);
    assert(answer == APPLIED)
}

/* What the room sees: the log in its order, and previews of gestures that no commit has ended. */
proctype Fanout() {
    byte cursor, closed, shown;
end:
    do
    :: atomic { cursor < seq ->
        cursor++;
        if
        :: rowCommit[cursor] == GROUP ->
            /* One number for all of it. */
            assert(rowElements[cursor] == BOTH && shown == 0);
            shown = rowElements[cursor];
#ifdef FENCE_FIRST
            closed = FIRST
#else
            closed = rowElements[cursor]
#endif
        :: else
        fi }
    :: atomic { previews[0]?_ ->
        if
        :: !(closed & FIRST) -> assert(!(shown & FIRST))
        :: else
        fi }
    :: atomic { previews[1]?_ ->
        if
        :: !(closed & SECOND) -> assert(!(shown & SECOND))
        :: else
        fi }
    od
}

/* Whoever reads the room at any moment finds all of the group or nothing of it. */
active proctype Reader() {
end:
    atomic { grouped != 0 -> assert(grouped == BOTH) }
}

init {
    byte i;
    atomic {
        run Publisher();
        run Writer();
        run Fanout();
        for (i : 1 .. COMMITTERS) { run Committer() }
    }
}
