-- The whole schema: tables, each with what belongs to it; then what writes them, what reads them, what keeps them up, and
-- what roles may do.
--
-- Everything is keyed by shard or room, so that rooms can be spread over machines later on. CHECKs are the last line of
-- defence. A table that batches write has one, because PostgreSQL parses the text of each again for every statement; a long
-- one is a function, whose plan is kept from call to call.

-- MARK: Which history the database is on
--
-- meta.epoch names the history to apps: while it stays the same, a room's number means the same update. It is replaced
-- whenever rows may have been lost that somebody has seen.

CREATE TABLE meta (
    key   text COLLATE "C" PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);
COMMENT ON TABLE meta IS 'epoch: names this database history; session_key: secret that seals session tokens; '
    'session_floor, sessions_swept: see sweep_sessions; user_sessions: see evict_sessions';

-- A new name for the history.
CREATE FUNCTION new_epoch() RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT left(replace(gen_random_uuid()::text, '-', ''), 16) $$;

-- user_sessions is the bound for claims, which come from fan-outs: those do not know the committers' settings. Until the
-- first batch says what is set it is the default.
INSERT INTO meta (key, value) VALUES
    ('epoch', new_epoch()),
    ('session_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')),
    ('session_floor', ''),
    ('user_sessions', '1000');

-- The cluster, its timeline and whether commits waited for a standby when a committer last looked, in one row. The
-- commit of this row waits for the standby like any other: a standby whose row says `synchronous` has everything that
-- was committed before it too.
CREATE TABLE history (
    is_one      boolean PRIMARY KEY DEFAULT true CHECK (is_one),
    system      bigint,
    timeline    integer,
    synchronous boolean NOT NULL DEFAULT false,
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO history DEFAULT VALUES;

-- Compares what a committer sees when it connects, and regularly, with what was recorded last:
--
--     verdict   cluster   timeline   recorded                            epoch
--     same      same      same       anything                            stays
--     first     nothing was recorded                                     stays
--     failover  same      newer      synchronous, at most 15 min ago     stays
--     lost      same      newer      anything else                       new
--     restored  another   any        anything                            new
--     behind    same      older      anything                            stays; nothing is recorded
--
-- A failover follows soon after the old primary was last seen, while a restored backup is usually older: hence the 15
-- minutes. What they miss, the chain of the commit log shows to the fan-outs. A role that may not read the cluster's
-- name passes NULL, and nothing is compared.
CREATE FUNCTION note_history(
    p_system bigint, p_timeline integer, p_synchronous boolean DEFAULT NULL,
    p_now timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (verdict text, epoch text)
LANGUAGE plpgsql VOLATILE
AS $$
#variable_conflict use_column
DECLARE
    known history;
    waits boolean := coalesce(p_synchronous, current_setting('synchronous_standby_names') <> ''
        AND current_setting('synchronous_commit') IN ('on', 'remote_apply'));
    found_verdict text := 'same';
BEGIN
    SELECT * INTO known FROM history;
    IF p_system IS NULL OR p_timeline IS NULL OR (known.system = p_system AND known.timeline = p_timeline
        AND known.synchronous = waits AND known.seen_at > p_now - interval '1 minute') THEN
        RETURN QUERY SELECT found_verdict, m.value FROM meta AS m WHERE m.key = 'epoch';
        RETURN;
    END IF;
    SELECT * INTO known FROM history FOR UPDATE;
    IF known.system IS NULL THEN
        found_verdict := 'first';
    ELSIF known.system <> p_system THEN
        found_verdict := 'restored';
    ELSIF p_timeline < known.timeline THEN
        found_verdict := 'behind';
    ELSIF p_timeline > known.timeline THEN
        found_verdict := CASE WHEN known.synchronous AND known.seen_at > p_now - interval '15 minutes'
            THEN 'failover' ELSE 'lost' END;
    END IF;
    IF found_verdict IN ('restored', 'lost') THEN
        UPDATE meta AS m SET value = new_epoch() WHERE m.key = 'epoch';
    END IF;
    IF found_verdict <> 'behind' THEN
        UPDATE history SET system = p_system, timeline = p_timeline, synchronous = waits, seen_at = p_now;
    END IF;
    RETURN QUERY SELECT found_verdict, m.value FROM meta AS m WHERE m.key = 'epoch';
END
$$;

-- Replaces the epoch p_from, because a fan-out saw that its history was replaced. Of several calls with the same name
-- one replaces it. Returns the name that is valid now.
CREATE FUNCTION move_epoch(p_from text) RETURNS text
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    UPDATE meta AS m SET value = new_epoch() WHERE m.key = 'epoch' AND m.value = p_from;
    RETURN (SELECT m.value FROM meta AS m WHERE m.key = 'epoch');
END
$$;

-- MARK: Shards and rooms

-- One row per shard: the lock on it orders all commits of the shard's rooms. Every batch updates it, so its page has
-- space for many row versions, which are pruned without touching an index.
CREATE TABLE shards (
    shard   smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
    version bigint NOT NULL DEFAULT 0 CHECK (version >= 0),
    gseq    bigint NOT NULL DEFAULT 0 CHECK (gseq >= 0),
    chain   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);
COMMENT ON COLUMN shards.chain IS 'hash over all rows of the shard''s log in order; 0: none yet';
INSERT INTO shards (shard) SELECT generate_series(0, 63);

-- What a room holds is known, so that committers can refuse what would make it too large: the number of its living
-- elements and their size. Every batch writes both with the room's number, under the lock of the shard's row.
CREATE TABLE rooms (
    room_id  text COLLATE "C" PRIMARY KEY,
    shard    smallint NOT NULL,
    seq      bigint NOT NULL,
    elements integer NOT NULL,
    bytes    bigint NOT NULL,
    CHECK (shard BETWEEN 0 AND 63 AND seq >= 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON COLUMN rooms.elements IS 'the number of its living elements';
COMMENT ON COLUMN rooms.bytes IS 'their size as committers count it: moving an element never changes it';

-- A room's name never changes, so its grammar is checked once, when the row is inserted. A CHECK would evaluate the
-- regular expression with every commit to the room.
CREATE FUNCTION refuse_room_name() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'a room cannot have this name' USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER rooms_name BEFORE INSERT ON rooms FOR EACH ROW
    WHEN (NEW.room_id !~ '^[A-Za-z0-9_.:-]{1,64}$') EXECUTE FUNCTION refuse_room_name();

-- MARK: Elements

CREATE FUNCTION element_is_sound(
    room_id text, id text, seq bigint, deleted_seq bigint, parent_id text, updated_by text, data json
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN octet_length(room_id) BETWEEN 1 AND 64 AND octet_length(id) BETWEEN 1 AND 128 AND seq > 0
        AND (parent_id IS NULL OR octet_length(parent_id) BETWEEN 1 AND 128) AND octet_length(updated_by) BETWEEN 1 AND 256
        AND CASE WHEN data IS NULL THEN deleted_seq IS NOT DISTINCT FROM seq
            ELSE deleted_seq IS NULL AND data::text LIKE '{%' AND octet_length(data::text) <= 65536 END;
END
$$;

-- The elements of all rooms, as the text that members get: only committers write it, and nothing in here looks into it but
-- the view for reports. A deleted one keeps its row, so that its id is never used again.
--
-- An undo deletes what its user has created only while nobody else has worked on that since. So an element has, beside its
-- last change (`updated_by`, `seq`), the last one by anybody else. Both are kept when the element is deleted, for an undo
-- that brings it back.
CREATE TABLE elements (
    room_id     text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    seq         bigint NOT NULL,
    deleted_seq bigint,
    parent_id   text COLLATE "C",
    updated_by  text COLLATE "C" NOT NULL,
    other_by    text COLLATE "C",
    other_seq   bigint,
    data        json,
    PRIMARY KEY (room_id, id),
    CONSTRAINT elements_check CHECK (element_is_sound(room_id, id, seq, deleted_seq, parent_id, updated_by, data))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON COLUMN elements.seq IS 'the room''s number of the last update of the element';
COMMENT ON COLUMN elements.deleted_seq IS 'set once deleted';
COMMENT ON COLUMN elements.parent_id IS 'of an annotation: the element that it lies on';
COMMENT ON COLUMN elements.updated_by IS 'the user that changed it last';
COMMENT ON COLUMN elements.other_by IS 'the last user that changed it, apart from updated_by; null: nobody else did';
COMMENT ON COLUMN elements.other_seq IS 'the room''s number of that change';
COMMENT ON COLUMN elements.data IS 'the element; null once deleted';

-- A room's living elements, and the annotations of each. However many an app creates and deletes again, a read passes over
-- those that exist only. Moving an element changes nothing that it has.
CREATE INDEX elements_living ON elements (room_id, parent_id) WHERE deleted_seq IS NULL;

-- Where the living elements are, for reports: degrees and pixels, as apps see them.
CREATE VIEW element_geometry AS
SELECT e.room_id, e.id, e.data ->> 'type' AS type,
    (e.data ->> 'positionX')::float8 AS position_x, (e.data ->> 'positionY')::float8 AS position_y,
    (e.data ->> 'width')::float8 AS width, (e.data ->> 'height')::float8 AS height,
    (e.data ->> 'rotation')::float8 AS rotation,
    (e.data ->> 'scaleX')::float8 AS scale_x, (e.data ->> 'scaleY')::float8 AS scale_y
FROM elements AS e WHERE e.deleted_seq IS NULL;

-- MARK: The commit log
--
-- History, outbox and source of replays in one. Rows are only ever inserted.
--
-- It is partitioned by day, so that whole days can be dropped. A key of a partitioned table must contain the day, so
-- each partition has keys of its own and none holds over all of them. That is enough: the numbers of a room and of a
-- shard come from rows that move from one version to the next under the shard's lock, and a session's number is only
-- used when it is above the session's highest.

-- The name of an event is checked by its grammar, so that a new kind of edit needs no migration. The regular expression
-- costs 0.9 µs: the most frequent event is compared first.
CREATE FUNCTION log_row_is_sound(
    room_id text, seq bigint, gseq bigint, shard smallint, event text, user_id text, session text, n bigint,
    gestures json, element_id text
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN octet_length(room_id) BETWEEN 1 AND 64 AND seq > 0 AND gseq > 0 AND shard BETWEEN 0 AND 63
        AND (event = 'element:transformed' OR octet_length(event) <= 64 AND event ~ '^[a-z]+:[a-z]+$')
        AND octet_length(user_id) BETWEEN 1 AND 256 AND octet_length(session) BETWEEN 1 AND 128
        AND n BETWEEN 1 AND 9007199254740991 AND (gestures IS NULL OR json_typeof(gestures) = 'object')
        AND (element_id IS NULL OR octet_length(element_id) BETWEEN 1 AND 128);
END
$$;

CREATE TABLE commit_log (
    room_id    text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    gseq       bigint NOT NULL,
    shard      smallint NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    event      text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    session    text COLLATE "C" NOT NULL,
    n          bigint NOT NULL,
    gestures   json,
    element_id text COLLATE "C",
    body_hash  bigint NOT NULL,
    before     json,
    after      json,
    chain      bigint NOT NULL DEFAULT 0,
    undo_next  bigint,
    undo_rest  integer,
    cause      text COLLATE "C",
    undone     json,
    adjusted   json,
    CONSTRAINT commit_log_check CHECK (log_row_is_sound(
        room_id, seq, gseq, shard, event, user_id, session, n, gestures, element_id))
) PARTITION BY RANGE (at);
COMMENT ON COLUMN commit_log.gestures IS 'the gestures that the commit ended: their numbers under the ids of their elements';
COMMENT ON COLUMN commit_log.chain IS 'shards.chain after the row';
COMMENT ON COLUMN commit_log.undo_next IS 'the seq of the row beneath it in its user''s stack; 0: none; null: it is on no stack';
COMMENT ON COLUMN commit_log.undo_rest IS 'how many rows beneath it belong to the same entry';
COMMENT ON COLUMN commit_log.cause IS 'undo or redo; null: an edit';
COMMENT ON COLUMN commit_log.undone IS 'the entry that an undo or a redo was made from';
COMMENT ON COLUMN commit_log.adjusted IS 'what was stored differently from what was sent, as the app was told; null: nothing';

-- Rows of a day without a partition of its own, so that a commit never fails for want of one. All other partitions are
-- made in its image.
CREATE TABLE commit_log_rest (
    LIKE commit_log INCLUDING ALL, PRIMARY KEY (room_id, seq), UNIQUE (room_id, session, n), UNIQUE (shard, gseq));
ALTER TABLE commit_log ATTACH PARTITION commit_log_rest DEFAULT;

-- The first partition ends with the day on which the database was made. maintain_log makes the following days.
CREATE TABLE commit_log_first (LIKE commit_log_rest INCLUDING ALL) WITH (
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
DO $$
BEGIN
    PERFORM set_config('timezone', 'UTC', true);
    EXECUTE format('ALTER TABLE commit_log ATTACH PARTITION commit_log_first FOR VALUES FROM (MINVALUE) TO (%L)',
        date_trunc('day', clock_timestamp()) + interval '1 day');
END
$$;

-- The partitions that hold days, with their bounds.
CREATE FUNCTION log_partitions() RETURNS TABLE (name text, lower timestamptz, upper timestamptz)
LANGUAGE sql STABLE SET timezone = 'UTC' SET datestyle = 'ISO, YMD'
AS $$
    SELECT c.relname::text,
        coalesce(substring(b.bound FROM 'FROM \(''([^'']+)''\)')::timestamptz, '-infinity'),
        substring(b.bound FROM 'TO \(''([^'']+)''\)')::timestamptz
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid)) AS b (bound)
    WHERE i.inhparent = 'commit_log'::regclass AND b.bound <> 'DEFAULT'
$$;

-- MARK: Sessions
--
-- Streams of numbered commits, with their owner and their highest number.
--
-- The names that the fan-outs give to sessions begin with eight characters of time and sort by it. `session_floor` in
-- `meta` is such a beginning: a session whose name sorts before it and that has no row was swept away (or never used).
-- It is never started again, because its numbers are not known. The floor is raised in the transaction that sweeps, and
-- never lowered.

CREATE TABLE sessions (
    room_id    text COLLATE "C" NOT NULL,
    session    text COLLATE "C" NOT NULL,
    user_id    text COLLATE "C" NOT NULL,
    hw         bigint NOT NULL,
    claim      integer NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (room_id, session),
    CHECK (octet_length(room_id) BETWEEN 1 AND 64 AND octet_length(session) BETWEEN 1 AND 128
        AND octet_length(user_id) BETWEEN 1 AND 256 AND hw BETWEEN 0 AND 9007199254740991 AND claim >= 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON COLUMN sessions.hw IS 'highest commit number used: all up to it have their final outcome';
COMMENT ON COLUMN sessions.claim IS 'the newest owner; commits of an older one are refused';

-- A user's sessions, the newest last. Requests over HTTP and operators' commands have streams with a colon in second
-- place, one each.
CREATE INDEX sessions_user ON sessions (room_id, user_id, session) WHERE substr(session, 2, 1) <> ':';
-- A user's requests over HTTP, by when they were first written: unlike updated_at that never changes, so that this index
-- costs the commits of other sessions nothing (no heap-only update changes an indexed column).
CREATE INDEX sessions_requests ON sessions (room_id, user_id, made_at) WHERE substr(session, 1, 2) = 'h:';

-- The last refusals of each session: a commit that was refused and comes again gets the same answer.
CREATE TABLE refusals (
    room_id   text COLLATE "C" NOT NULL CHECK (octet_length(room_id) BETWEEN 1 AND 64),
    session   text COLLATE "C" NOT NULL CHECK (octet_length(session) BETWEEN 1 AND 128),
    n         bigint NOT NULL CHECK (n BETWEEN 1 AND 9007199254740991),
    body_hash bigint NOT NULL,
    refusal   json NOT NULL CHECK (octet_length(refusal::text) <= 4096),
    PRIMARY KEY (room_id, session, n)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON COLUMN refusals.refusal IS 'the refusal, or {"seq"} for an undo that had nothing to undo';

-- Which of a user's sessions in a room have been evicted. Names of sessions sort by the time of their creation: one that
-- is not younger than the floor and has no row was evicted, or never used. It is never started again, because its
-- numbers are not known.
CREATE TABLE session_floors (
    room_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    floor   text COLLATE "C" NOT NULL,
    PRIMARY KEY (room_id, user_id)
);
COMMENT ON COLUMN session_floors.floor IS 'the youngest evicted session';

-- Whether a stream of commits belongs to an evicted session: its own, or one that a gateway numbers, whose name goes on
-- after a dot.
CREATE FUNCTION is_session_evicted(p_room text, p_session text, p_user text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
            SELECT FROM session_floors AS f
            WHERE f.room_id = p_room AND f.user_id = p_user AND split_part(p_session, '.', 1) <= f.floor
                AND substr(p_session, 2, 1) <> ':')
        AND NOT EXISTS (
            SELECT FROM sessions AS s
            WHERE s.room_id = p_room AND s.session IN (p_session, split_part(p_session, '.', 1)))
$$;

-- The bounds of a user's sessions in a room, and of what one call deletes.
--
-- A user has `user-sessions` sessions in a room, and as many requests over HTTP. Whatever adds one deletes up to 32 of the
-- oldest beyond that: idle ones, and beyond twice the bound any, as they can only be the same user's.
--
-- A user's sessions are looked up as a range of (user_id, session), in this order, and nothing is sorted that need not be:
-- only sessions_user has the order. While the planner believes that a room has one session it prefers the key otherwise,
-- and reads the sessions of everybody. Where something must be sorted after all the plan seems to be dear beyond measure:
-- without jit = off it would be compiled each time.

-- A user's requests over HTTP in a room are sessions of one commit each. Beyond the youngest p_most of them, those with an
-- idempotency key included, the oldest go, with their refusals, unless they are younger than ten minutes: that long a client
-- surely repeats one whose answer it lost. One that was applied is still recognized by its row in the log, for as long as
-- that is kept; one that was refused is decided again.
CREATE FUNCTION evict_requests(p_rooms text[], p_users text[], p_most integer) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_sort = off SET enable_incremental_sort = off
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    u record;
BEGIN
    FOR u IN
        SELECT k.room, k.usr, o.made_at
        FROM (SELECT DISTINCT a.room, a.usr FROM unnest(p_rooms, p_users) AS a (room, usr)) AS k
        CROSS JOIN LATERAL (
            SELECT n.made_at FROM sessions AS n
            WHERE n.room_id = k.room AND n.user_id = k.usr AND substr(n.session, 1, 2) = 'h:'
            ORDER BY n.made_at DESC OFFSET p_most LIMIT 1) AS o
    LOOP
        WITH old AS (
            SELECT n.ctid AS row FROM sessions AS n
            WHERE n.room_id = u.room AND n.user_id = u.usr AND substr(n.session, 1, 2) = 'h:'
                AND n.made_at <= u.made_at
            ORDER BY n.made_at LIMIT 32
        ), evicted AS (
            DELETE FROM sessions AS s USING old AS o
            WHERE s.ctid = o.row AND s.updated_at < clock_timestamp() - interval '10 minutes'
            RETURNING s.room_id, s.session
        )
        DELETE FROM refusals AS r
        USING (
            SELECT o.row FROM evicted AS e
            CROSS JOIN LATERAL (
                SELECT k.ctid AS row FROM refusals AS k
                WHERE k.room_id = e.room_id AND k.session = e.session OFFSET 0) AS o OFFSET 0) AS o
        WHERE r.ctid = o.row;
    END LOOP;
END
$$;

-- Deletes the oldest sessions of users beyond the youngest p_most in a room, with their refusals: those that were idle
-- for ten minutes, and beyond twice p_most any. Not what this transaction has written: its outcome may be unknown to
-- whoever sent it, and is found by the row when it is asked for again.
--
-- The cost does not depend on how many rows there are. Names sort by time: three places are found by the index, at most
-- p_most entries apart, and 32 rows go in one call. More than twice p_most there are only until a few more were added.
--
-- Nobody waits for it. Rows that others have locked are left to the next call, and while somebody is at the same user's
-- the others do nothing: neither claims, which have no shard's lock, nor batches can wait for each other here.
CREATE FUNCTION evict_user_sessions(p_rooms text[], p_users text[], p_most bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_sort = off SET enable_incremental_sort = off
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    u record;
    surplus text;
BEGIN
    FOR u IN
        SELECT k.room, k.usr, o.session AS beyond
        FROM (SELECT DISTINCT a.room, a.usr FROM unnest(p_rooms, p_users) AS a (room, usr)) AS k
        CROSS JOIN LATERAL (
            SELECT n.session FROM sessions AS n
            WHERE n.room_id = k.room AND n.user_id BETWEEN k.usr AND k.usr AND substr(n.session, 2, 1) <> ':'
            ORDER BY n.user_id DESC, n.session DESC OFFSET p_most LIMIT 1) AS o
    LOOP
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(u.room || ' ' || u.usr, 0));
        surplus := (
            SELECT n.session FROM sessions AS n
            WHERE n.room_id = u.room AND n.user_id >= u.usr AND (n.user_id, n.session) <= (u.usr, u.beyond)
                AND substr(n.session, 2, 1) <> ':'
            ORDER BY n.user_id DESC, n.session DESC OFFSET p_most LIMIT 1);
        WITH old AS (
            SELECT n.ctid AS row FROM sessions AS n
            WHERE n.room_id = u.room AND n.user_id >= u.usr AND (n.user_id, n.session) <= (u.usr, u.beyond)
                AND substr(n.session, 2, 1) <> ':' AND n.updated_at < transaction_timestamp()
                AND (n.session <= surplus OR n.updated_at < clock_timestamp() - interval '10 minutes')
            ORDER BY n.user_id, n.session LIMIT 32 FOR UPDATE SKIP LOCKED
        ), evicted AS (
            DELETE FROM sessions AS s USING old AS o WHERE s.ctid = o.row RETURNING s.room_id, s.user_id, s.session
        ), unused AS (
            DELETE FROM refusals AS r
            USING (
                SELECT o.row FROM evicted AS e
                CROSS JOIN LATERAL (
                    SELECT k.ctid AS row FROM refusals AS k
                    WHERE k.room_id = e.room_id AND k.session = e.session OFFSET 0) AS o OFFSET 0) AS o
            WHERE r.ctid = o.row
        )
        INSERT INTO session_floors AS f (room_id, user_id, floor)
        SELECT e.room_id, e.user_id, max(split_part(e.session, '.', 1)) FROM evicted AS e
        GROUP BY e.room_id, e.user_id
        ON CONFLICT (room_id, user_id) DO UPDATE SET floor = greatest(f.floor, excluded.floor);
    END LOOP;
END
$$;

-- Evicts what is beyond p_most, and tells claims the bound. Without p_most it does nothing. Nothing is written unless that
-- has changed; a batch that finds the row locked leaves it to the next one, so that shards do not wait for each other. An
-- operator's command writes as the user `operator`, with the default instead of the committers' setting. Committers
-- should have the same one: of two that differ, the one that adds a session later decides.
CREATE FUNCTION evict_sessions(p_rooms text[], p_users text[], p_most integer) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF p_most IS NULL THEN
        RETURN;
    END IF;
    IF 'operator' <> ANY (p_users)
        AND p_most::text <> (SELECT m.value FROM meta AS m WHERE m.key = 'user_sessions') THEN
        UPDATE meta AS m SET value = p_most::text
        WHERE m.ctid = (SELECT k.ctid FROM meta AS k WHERE k.key = 'user_sessions' FOR UPDATE SKIP LOCKED);
    END IF;
    PERFORM evict_requests(p_rooms, p_users, p_most);
    PERFORM evict_user_sessions(p_rooms, p_users, p_most);
END
$$;

-- Gives a session a new owner by raising its claim, and returns the claim and the highest number. No row: the session
-- is another user's, or has ended. It locks nothing but the session's row: commit_batch checks the claim of every session
-- that it writes.
--
-- A name that twice as many as the bound are younger than, as of a client that slept for days, gets no row: it would be
-- among the next to go, perhaps with commits on their way. It is refused at once, nothing was committed under it, and
-- its app joins without it and gets a name that is the youngest. With fewer than that the new row is kept like any that
-- is in use.
CREATE FUNCTION claim_session(p_room text, p_session text, p_user text)
RETURNS TABLE (claim integer, hw bigint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_sort = off SET enable_incremental_sort = off
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    most bigint;
BEGIN
    RETURN QUERY UPDATE sessions AS s SET claim = s.claim + 1, updated_at = clock_timestamp()
        WHERE s.room_id = p_room AND s.session = p_session AND s.user_id = p_user
        RETURNING s.claim, s.hw;
    IF FOUND OR is_session_evicted(p_room, p_session, p_user)
        OR (length(p_session) = 15 AND p_session COLLATE "C" < (
            SELECT m.value FROM meta AS m WHERE m.key = 'session_floor')) THEN
        RETURN;
    END IF;
    most := coalesce((SELECT m.value FROM meta AS m WHERE m.key = 'user_sessions'), '1000');
    PERFORM FROM sessions AS n
    WHERE n.room_id = p_room AND n.user_id <= p_user AND (n.user_id, n.session) > (p_user, p_session)
        AND substr(n.session, 2, 1) <> ':'
    ORDER BY n.user_id, n.session OFFSET 2 * most - 1 LIMIT 1;
    IF FOUND THEN
        RETURN;
    END IF;
    -- A session that never committed has no row and its first owner has claim 1.
    INSERT INTO sessions AS s (room_id, session, user_id, hw, claim)
        VALUES (p_room, p_session, p_user, 0, 2)
        ON CONFLICT (room_id, session) DO UPDATE
            SET claim = s.claim + 1, updated_at = clock_timestamp()
            WHERE s.user_id = excluded.user_id
        RETURNING s.claim, s.hw INTO claim, hw;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Somebody else's row that came in between has another claim or a commit.
    IF claim = 2 AND hw = 0 THEN
        PERFORM evict_user_sessions(ARRAY[p_room], ARRAY[p_user], most);
    END IF;
    RETURN NEXT;
END
$$;

-- MARK: Undo
--
-- What a user can undo and redo in a room: two stacks, 100 entries deep at most, as linked lists through the commit log. An
-- entry is one row of the log, or several of one group. `undo_next` of a row is the row beneath it, and `undo_rest` says how
-- many of the rows beneath belong to the same entry. Only the tops of the stacks stand here, so an entry lasts as long as
-- its rows in the log.
--
-- Batches alone write the rows, under the lock of the shard's row and from the state that they compare there.
-- sweep_sessions deletes those that have no entry in the log any more. Every batch updates a row of each of its users, so
-- pages have space for new row versions.

CREATE TABLE undo_stacks (
    room_id          text COLLATE "C" NOT NULL,
    user_id          text COLLATE "C" NOT NULL,
    undo_head        bigint NOT NULL,
    undo_depth       integer NOT NULL,
    redo_head        bigint NOT NULL,
    redo_depth       integer NOT NULL,
    undo_group       text COLLATE "C",
    undo_group_rows  integer NOT NULL,
    undo_group_bytes bigint NOT NULL,
    updated_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (room_id, user_id),
    CHECK (octet_length(room_id) BETWEEN 1 AND 64 AND octet_length(user_id) BETWEEN 1 AND 256
        AND undo_head >= 0 AND undo_depth >= 0 AND redo_head >= 0 AND redo_depth >= 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON COLUMN undo_stacks.undo_head IS 'the seq of the newest row of the newest entry';
COMMENT ON COLUMN undo_stacks.undo_group IS 'the group that the newest entry is open for; null: none';

-- MARK: Writing

-- Writes one batch of commits: the only function that changes rooms, elements and the log.
--
-- One call is one transaction. The committer has decided everything from the state of the shard at p_version and
-- p_base. The function makes sure, under the lock on the shard's row, that this still is the state, and writes. A
-- second committer on the same shard, a transaction left over from a lost connection, or a retry after an unknown
-- outcome therefore finds another version, and nothing is written. The chain is compared too, so that the same version
-- number in another history does not pass for this one.
--
-- A batch that changes nothing but was answered from the state (duplicates, gaps) makes the same write: its COMMIT then
-- proves that the state was current, and waits for a synchronous standby as the first one did.
--
-- Returns false when the state is another one; nothing was written then. Raises TS001 when a session of the batch has a
-- new owner, and check_violation when a row may not be written; either rolls everything back.
--
-- Arguments. The arrays of one table have the same length: row i is made of the i-th value of each.
--
--     p_   the shard: its number, version and chain before, last number (gseq) and chain afterwards
--     r_   rooms: their last numbers, and what they hold, afterwards
--     e_   elements afterwards, each once; e_data: null when deleted; e_restored: it was deleted before the batch, and an
--          undo brings it back
--     l_   rows of the commit log, in order; l_undo_: the row's place in its user's stack
--     s_   sessions whose highest number grew
--     u_   users whose stacks changed, with the stacks afterwards
--     f_   commits that were refused for good
--
-- p_user_sessions says how many sessions a user may have in a room.
--
-- Rows that nearly always exist (sessions, stacks, rooms, elements) are updated first, and only the missing ones are
-- inserted: INSERT ... ON CONFLICT DO UPDATE would make and check the new row, look for the conflict and lock the existing
-- row before it updates. `written` counts the rows that could be written. A row that somebody else inserts in between is
-- not counted, and the batch fails as if its update had not been allowed.
--
-- Log rows have many columns, so they are read from the arrays by index: unnest of many arrays would build a row store for
-- each. The indexes of elements come from unnest rather than generate_series, because the planner expects few rows of it:
-- expecting many, it would rather read a small table as a whole, and keep that plan when the table has grown.
--
-- The settings pin the planner to index look-ups and keep the plans, because a plan made while the tables were empty
-- would scan them later. The function is for READ COMMITTED: under a stricter level a lost race would be an error
-- (40001) instead of an answer, which is right as well, only slower.
CREATE FUNCTION commit_batch(
    p_shard smallint, p_version bigint, p_base bigint, p_gseq bigint, p_chain bigint, p_user_sessions integer,
    r_room text[], r_seq bigint[], r_elements integer[], r_bytes bigint[],
    e_room text[], e_id text[], e_seq bigint[], e_restored boolean[], e_parent_id text[], e_updated_by text[],
    e_other_by text[], e_other_seq bigint[], e_data json[],
    l_room text[], l_seq bigint[], l_gseq bigint[], l_event text[], l_user text[], l_session text[],
    l_n bigint[], l_gestures json[], l_element text[], l_hash bigint[], l_before json[], l_after json[],
    l_chain bigint[], l_undo_next bigint[], l_undo_rest integer[], l_cause text[], l_undone json[], l_adjusted json[],
    s_room text[], s_session text[], s_user text[], s_hw bigint[], s_claim integer[],
    u_room text[], u_user text[], u_undo_head bigint[], u_undo_depth integer[], u_redo_head bigint[],
    u_redo_depth integer[], u_group text[], u_group_rows integer[], u_group_bytes bigint[],
    f_room text[], f_session text[], f_n bigint[], f_hash bigint[], f_refusal json[]
) RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    written bigint;
    added bigint;
BEGIN
    UPDATE shards SET version = version + 1, gseq = p_gseq, chain = p_chain
    WHERE shard = p_shard AND version = p_version AND chain = p_base;
    IF NOT FOUND THEN
        RETURN false;
    END IF;

    IF cardinality(s_room) > 0 THEN
        -- claim_session() may raise a claim at any time, without the shard's lock: the row itself decides.
        UPDATE sessions AS s SET hw = u.hw, updated_at = clock_timestamp()
        FROM (
            SELECT k.*, o.row
            FROM unnest(s_room, s_session, s_user, s_hw, s_claim) AS k (room, session, usr, hw, claim)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM sessions AS o
                WHERE o.room_id = k.room AND o.session = k.session OFFSET 0) AS o OFFSET 0) AS u
        WHERE s.ctid = u.row AND s.claim = u.claim AND s.user_id = u.usr AND s.hw < u.hw;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(s_room) THEN
            INSERT INTO sessions (room_id, session, user_id, hw, claim)
            SELECT * FROM unnest(s_room, s_session, s_user, s_hw, s_claim) AS u (room, session, usr, hw, claim)
            WHERE NOT EXISTS (SELECT FROM sessions AS s WHERE s.room_id = u.room AND s.session = u.session OFFSET 0)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
            IF added > 0 THEN
                PERFORM evict_sessions(s_room, s_user, p_user_sessions);
            END IF;
        END IF;
        IF written <> cardinality(s_room) THEN
            RAISE EXCEPTION 'a session of the batch has a new owner' USING ERRCODE = 'TS001';
        END IF;
    END IF;

    IF cardinality(u_room) > 0 THEN
        UPDATE undo_stacks AS t SET
            undo_head = u.undo, undo_depth = u.undo_depth, redo_head = u.redo, redo_depth = u.redo_depth,
            undo_group = u.grp, undo_group_rows = u.group_rows, undo_group_bytes = u.group_bytes,
            updated_at = clock_timestamp()
        FROM (
            SELECT k.*, o.row FROM unnest(
                u_room, u_user, u_undo_head, u_undo_depth, u_redo_head, u_redo_depth, u_group, u_group_rows,
                u_group_bytes) AS k (room, usr, undo, undo_depth, redo, redo_depth, grp, group_rows, group_bytes)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM undo_stacks AS o
                WHERE o.room_id = k.room AND o.user_id = k.usr OFFSET 0) AS o OFFSET 0) AS u
        WHERE t.ctid = u.row;
        GET DIAGNOSTICS written = ROW_COUNT;
        -- No other transaction inserts any meanwhile: it would need the shard's lock.
        IF written <> cardinality(u_room) THEN
            INSERT INTO undo_stacks (
                room_id, user_id, undo_head, undo_depth, redo_head, redo_depth, undo_group, undo_group_rows,
                undo_group_bytes)
            SELECT * FROM unnest(
                u_room, u_user, u_undo_head, u_undo_depth, u_redo_head, u_redo_depth, u_group, u_group_rows,
                u_group_bytes) AS u (room, usr, undo, undo_depth, redo, redo_depth, grp, group_rows, group_bytes)
            WHERE NOT EXISTS (SELECT FROM undo_stacks AS t WHERE t.room_id = u.room AND t.user_id = u.usr OFFSET 0);
        END IF;
    END IF;

    IF cardinality(l_room) > 0 THEN
        UPDATE rooms AS r SET seq = u.seq, elements = u.elements, bytes = u.bytes
        FROM (
            SELECT k.*, o.row FROM unnest(r_room, r_seq, r_elements, r_bytes) AS k (room, seq, elements, bytes)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM rooms AS o WHERE o.room_id = k.room OFFSET 0) AS o OFFSET 0) AS u
        WHERE r.ctid = u.row AND r.shard = p_shard AND r.seq < u.seq;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(r_room) THEN
            INSERT INTO rooms (room_id, shard, seq, elements, bytes)
            SELECT u.room, p_shard, u.seq, u.elements, u.bytes
            FROM unnest(r_room, r_seq, r_elements, r_bytes) AS u (room, seq, elements, bytes)
            WHERE NOT EXISTS (SELECT FROM rooms AS r WHERE r.room_id = u.room OFFSET 0)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
        END IF;
        IF written <> cardinality(r_room) THEN
            RAISE EXCEPTION 'a room of the batch belongs to another shard' USING ERRCODE = 'check_violation';
        END IF;

        UPDATE elements AS e SET
            seq = e_seq[u.i], deleted_seq = CASE WHEN e_data[u.i] IS NULL THEN e_seq[u.i] END,
            updated_by = e_updated_by[u.i], other_by = e_other_by[u.i], other_seq = e_other_seq[u.i], data = e_data[u.i]
        FROM (
            SELECT k.i::integer AS i, o.row FROM unnest(e_room, e_id) WITH ORDINALITY AS k (room, id, i)
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM elements AS o
                WHERE o.room_id = k.room AND o.id = k.id OFFSET 0) AS o OFFSET 0) AS u
        WHERE e.ctid = u.row AND e.seq < e_seq[u.i] AND (e.deleted_seq IS NULL OR e_restored[u.i]);
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(e_room) THEN
            INSERT INTO elements (room_id, id, seq, deleted_seq, parent_id, updated_by, other_by, other_seq, data)
            SELECT u.room, u.id, u.seq, CASE WHEN u.data IS NULL THEN u.seq END, u.parent, u.by, u.other_by, u.other_seq,
                u.data
            FROM unnest(e_room, e_id, e_seq, e_parent_id, e_updated_by, e_other_by, e_other_seq, e_data) AS u (
                room, id, seq, parent, by, other_by, other_seq, data)
            WHERE NOT EXISTS (SELECT FROM elements AS e WHERE e.room_id = u.room AND e.id = u.id OFFSET 0)
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS added = ROW_COUNT;
            written := written + added;
        END IF;
        IF written <> cardinality(e_room) THEN
            RAISE EXCEPTION 'an element of the batch is deleted or newer' USING ERRCODE = 'check_violation';
        END IF;

        INSERT INTO commit_log (
            room_id, seq, gseq, shard, event, user_id, session, n, gestures, element_id, body_hash, before,
            after, chain, undo_next, undo_rest, cause, undone, adjusted)
        SELECT l_room[u.i], l_seq[u.i], l_gseq[u.i], p_shard, l_event[u.i], l_user[u.i], l_session[u.i],
            l_n[u.i], l_gestures[u.i], l_element[u.i], l_hash[u.i], l_before[u.i], l_after[u.i], l_chain[u.i],
            l_undo_next[u.i], l_undo_rest[u.i], l_cause[u.i], l_undone[u.i], l_adjusted[u.i]
        FROM generate_series(1, cardinality(l_room)) AS u (i);
    END IF;

    IF cardinality(f_room) > 0 THEN
        INSERT INTO refusals (room_id, session, n, body_hash, refusal)
        SELECT * FROM unnest(f_room, f_session, f_n, f_hash, f_refusal);
        -- The last 32 refusals of a session are kept.
        DELETE FROM refusals AS r
        USING (
            SELECT o.row FROM (SELECT DISTINCT u.room, u.session FROM unnest(f_room, f_session) AS u (room, session)) AS k
            CROSS JOIN LATERAL (
                SELECT o.ctid AS row FROM refusals AS o WHERE o.room_id = k.room AND o.session = k.session
                ORDER BY o.n DESC OFFSET 32) AS o OFFSET 0) AS u
        WHERE r.ctid = u.row;
    END IF;
    RETURN true;
END
$$;

-- MARK: Reading
--
-- The functions that read. All are STABLE: every statement inside sees the snapshot of the one statement that called, so
-- an answer is the state at one moment. They are plpgsql because that keeps their plans between calls, and have the
-- planner pinned to index look-ups, because a plan made while the tables were empty would scan them later.

-- What a committer needs to decide a batch, in one round trip and one snapshot: one row of arrays. The arrays of one table
-- have the same length: row i is made of the i-th value of each, and what does not exist is in none.
--
-- Arguments, of which each asks for what is named like it:
--
--     r_   rooms
--     s_   streams with their users; those of them whose session was evicted
--     e_   elements; with e_family their living annotations come along
--     d_   commits whose outcome is asked for: they were applied or refused
--     u_   users whose stacks are asked for
--     h_   entries of stacks by their newest rows, the newest first. Those below can be read with it, as long as those so far
--          have fewer rows than h_ahead says, and less than 256 KiB; 0: that one only
--     a_   elements whose living annotations are counted
CREATE FUNCTION load_shard_state(
    p_shard smallint, r_room text[], s_room text[], s_session text[], s_user text[], e_room text[], e_id text[],
    e_family boolean[], d_room text[], d_session text[], d_n bigint[], u_room text[], u_user text[],
    h_room text[], h_seq bigint[], h_ahead bigint[], a_room text[], a_id text[],
    OUT version bigint, OUT gseq bigint, OUT chain bigint, OUT session_floor text,
    OUT room_ids text[], OUT room_seqs bigint[], OUT room_elements integer[], OUT room_bytes bigint[],
    OUT stream_rooms text[], OUT stream_sessions text[], OUT stream_users text[], OUT stream_hws bigint[],
    OUT stream_claims integer[],
    OUT evicted_rooms text[], OUT evicted_sessions text[],
    OUT element_rooms text[], OUT element_ids text[], OUT element_seqs bigint[], OUT element_updated_by text[],
    OUT element_other_by text[], OUT element_other_seqs bigint[], OUT element_data json[],
    OUT applied_rooms text[], OUT applied_sessions text[], OUT applied_ns bigint[], OUT applied_seqs bigint[],
    OUT applied_hashes bigint[], OUT applied_events text[], OUT applied_before json[], OUT applied_after json[],
    OUT applied_undone json[], OUT applied_adjusted json[],
    OUT refused_rooms text[], OUT refused_sessions text[], OUT refused_ns bigint[], OUT refused_hashes bigint[],
    OUT refused_outcomes json[],
    OUT stack_rooms text[], OUT stack_users text[], OUT stack_undo_heads bigint[], OUT stack_undo_depths integer[],
    OUT stack_redo_heads bigint[], OUT stack_redo_depths integer[], OUT stack_groups text[],
    OUT stack_group_rows integer[], OUT stack_group_bytes bigint[],
    OUT entry_rooms text[], OUT entry_heads bigint[], OUT entry_seqs bigint[], OUT entry_nexts bigint[],
    OUT entry_events text[], OUT entry_before json[], OUT entry_after json[],
    OUT annotated_rooms text[], OUT annotated_ids text[], OUT annotated_counts bigint[]
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_sort = off SET enable_incremental_sort = off
AS $$
#variable_conflict use_column
BEGIN
    SELECT s.version, s.gseq, s.chain, (SELECT m.value FROM meta AS m WHERE m.key = 'session_floor')
    INTO version, gseq, chain, session_floor
    FROM shards AS s WHERE s.shard = p_shard;
    IF cardinality(r_room) > 0 THEN
        SELECT array_agg(r.room_id), array_agg(r.seq), array_agg(r.elements), array_agg(r.bytes)
        INTO room_ids, room_seqs, room_elements, room_bytes
        FROM unnest(r_room) AS k (room)
        CROSS JOIN LATERAL (SELECT * FROM rooms AS o WHERE o.room_id = k.room OFFSET 0) AS r;
    END IF;
    IF cardinality(s_room) > 0 THEN
        SELECT array_agg(s.room_id), array_agg(s.session), array_agg(s.user_id), array_agg(s.hw), array_agg(s.claim)
        INTO stream_rooms, stream_sessions, stream_users, stream_hws, stream_claims
        FROM unnest(s_room, s_session) AS k (room, session)
        CROSS JOIN LATERAL (
            SELECT * FROM sessions AS o WHERE o.room_id = k.room AND o.session = k.session OFFSET 0) AS s;
        SELECT array_agg(k.room), array_agg(k.session) INTO evicted_rooms, evicted_sessions
        FROM unnest(s_room, s_session, s_user) AS k (room, session, usr)
        WHERE is_session_evicted(k.room, k.session, k.usr);
    END IF;
    IF cardinality(e_room) > 0 THEN
        SELECT array_agg(e.room_id), array_agg(e.id), array_agg(e.seq), array_agg(e.updated_by), array_agg(e.other_by),
            array_agg(e.other_seq), array_agg(e.data)
        INTO element_rooms, element_ids, element_seqs, element_updated_by, element_other_by, element_other_seqs,
            element_data
        FROM (
            SELECT o.* FROM unnest(e_room, e_id) AS k (room, id)
            CROSS JOIN LATERAL (SELECT * FROM elements AS o WHERE o.room_id = k.room AND o.id = k.id OFFSET 0) AS o
            UNION ALL
            SELECT o.* FROM unnest(e_room, e_id, e_family) AS k (room, id, family)
            CROSS JOIN LATERAL (
                SELECT * FROM elements AS o
                WHERE o.room_id = k.room AND o.parent_id = k.id AND o.deleted_seq IS NULL OFFSET 0) AS o
            WHERE k.family) AS e;
    END IF;
    IF cardinality(d_room) > 0 THEN
        SELECT array_agg(l.room_id), array_agg(l.session), array_agg(l.n), array_agg(l.seq), array_agg(l.body_hash),
            array_agg(l.event), array_agg(l.before), array_agg(l.after), array_agg(l.undone),
            array_agg(l.adjusted)
        INTO applied_rooms, applied_sessions, applied_ns, applied_seqs, applied_hashes, applied_events, applied_before,
            applied_after, applied_undone, applied_adjusted
        FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
        CROSS JOIN LATERAL (
            SELECT * FROM commit_log AS o
            WHERE o.room_id = k.room AND o.session = k.session AND o.n = k.n OFFSET 0) AS l;
        SELECT array_agg(f.room_id), array_agg(f.session), array_agg(f.n), array_agg(f.body_hash), array_agg(f.refusal)
        INTO refused_rooms, refused_sessions, refused_ns, refused_hashes, refused_outcomes
        FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
        CROSS JOIN LATERAL (
            SELECT * FROM refusals AS o
            WHERE o.room_id = k.room AND o.session = k.session AND o.n = k.n OFFSET 0) AS f;
    END IF;
    IF cardinality(u_room) > 0 THEN
        SELECT array_agg(t.room_id), array_agg(t.user_id), array_agg(t.undo_head), array_agg(t.undo_depth),
            array_agg(t.redo_head), array_agg(t.redo_depth), array_agg(t.undo_group), array_agg(t.undo_group_rows),
            array_agg(t.undo_group_bytes)
        INTO stack_rooms, stack_users, stack_undo_heads, stack_undo_depths, stack_redo_heads, stack_redo_depths,
            stack_groups, stack_group_rows, stack_group_bytes
        FROM unnest(u_room, u_user) AS k (room, usr)
        CROSS JOIN LATERAL (
            SELECT * FROM undo_stacks AS o WHERE o.room_id = k.room AND o.user_id = k.usr OFFSET 0) AS t;
    END IF;
    IF cardinality(h_room) > 0 THEN
        WITH RECURSIVE entry AS (
            SELECT l.*, k.seq AS head, k.ahead, 1 AS nth, octet_length(concat(l.before, l.after)) AS bytes
            FROM unnest(h_room, h_seq, h_ahead) AS k (room, seq, ahead)
            CROSS JOIN LATERAL (
                SELECT * FROM commit_log AS o WHERE o.room_id = k.room AND o.seq = k.seq OFFSET 0) AS l
            UNION ALL
            SELECT l.*, CASE WHEN e.undo_rest > 0 THEN e.head ELSE l.seq END, e.ahead, e.nth + 1,
                e.bytes + octet_length(concat(l.before, l.after))
            FROM entry AS e
            CROSS JOIN LATERAL (
                SELECT * FROM commit_log AS o
                WHERE o.room_id = e.room_id AND o.seq = e.undo_next OFFSET 0) AS l
            WHERE e.undo_rest > 0 OR (e.nth < e.ahead AND e.bytes < 262144)
        )
        SELECT array_agg(e.room_id), array_agg(e.head), array_agg(e.seq), array_agg(e.undo_next), array_agg(e.event),
            array_agg(e.before), array_agg(e.after)
        INTO entry_rooms, entry_heads, entry_seqs, entry_nexts, entry_events, entry_before, entry_after
        FROM (SELECT * FROM entry AS r ORDER BY r.room_id, r.head, r.seq DESC) AS e;
    END IF;
    IF cardinality(a_room) > 0 THEN
        SELECT array_agg(k.room), array_agg(k.id), array_agg(c.annotations)
        INTO annotated_rooms, annotated_ids, annotated_counts
        FROM unnest(a_room, a_id) AS k (room, id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS annotations FROM elements AS e
            WHERE e.room_id = k.room AND e.parent_id = k.id AND e.deleted_seq IS NULL) AS c;
    END IF;
END
$$;

-- A room at one moment: one row per living element, or one row without element when there is none. The name of the
-- history, the shard's last number and chain, and the room's last number stand in every row.
--
-- To the planner, who does not know how many deleted elements this room has, the table's key is as good as elements_living:
-- only that index has the order that is asked for, and nothing may be sorted.
CREATE FUNCTION read_room(p_room text, p_shard smallint)
RETURNS TABLE (
    epoch text, gseq bigint, seq bigint, element_id text, element_seq bigint, element text, chain bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT m.value, s.gseq, coalesce(r.seq, 0), e.id, e.seq, e.data::text, s.chain
        FROM meta AS m
        JOIN shards AS s ON s.shard = p_shard
        LEFT JOIN rooms AS r ON r.room_id = p_room
        LEFT JOIN LATERAL (
            SELECT l.* FROM elements AS l WHERE l.room_id = p_room AND l.deleted_seq IS NULL
            ORDER BY l.room_id, l.parent_id OFFSET 0) AS e ON true
        WHERE m.key = 'epoch';
END
$$;

-- At most p_limit rows of a room's log after a number, in order.
CREATE FUNCTION read_room_log(p_room text, p_after bigint, p_limit integer)
RETURNS TABLE (
    shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
    session text, n bigint, gestures text, element_id text, before text, after text, body_hash bigint,
    chain bigint, cause text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gestures::text,
        l.element_id, l.before::text, l.after::text, l.body_hash, l.chain, l.cause
        FROM commit_log AS l WHERE l.room_id = p_room AND l.seq > p_after
        ORDER BY l.room_id, l.seq LIMIT p_limit;
END
$$;

-- At most p_limit rows of a shard's log after a number, in order.
CREATE FUNCTION read_shard_log(p_shard smallint, p_after_gseq bigint, p_limit integer)
RETURNS TABLE (
    shard smallint, gseq bigint, room_id text, seq bigint, at timestamptz, event text, user_id text,
    session text, n bigint, gestures text, element_id text, before text, after text, body_hash bigint,
    chain bigint, cause text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT l.shard, l.gseq, l.room_id, l.seq, l.at, l.event, l.user_id, l.session, l.n, l.gestures::text,
        l.element_id, l.before::text, l.after::text, l.body_hash, l.chain, l.cause
        FROM commit_log AS l WHERE l.shard = p_shard AND l.gseq > p_after_gseq
        ORDER BY l.shard, l.gseq LIMIT p_limit;
END
$$;

-- The last number and the chain of every shard.
CREATE FUNCTION shard_heads() RETURNS TABLE (shard smallint, gseq bigint, chain bigint)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.shard, s.gseq, s.chain FROM shards AS s ORDER BY s.shard
$$;

-- MARK: Upkeep

-- One step of the log's upkeep: makes one missing day of today and the next three, otherwise drops one day that is older
-- than p_keep_days. Returns what it did; NULL when nothing was left to do, or when another committer is at it.
--
-- A day is made beside the log and then attached, which commits do not wait for. Dropping one locks the whole log for a
-- moment: when the lock is not free within a tenth of a second, the step fails and the next round tries again.
--
-- Where the log had no days made for a while, its default partition has the rows of all of them, and keeps nobody from
-- anything: a day with more than 10,000 rows there stays there, the next ones are made, and old rows go in steps of 10,000.
--
-- A day can be attached while the default partition has rows of others, but PostgreSQL reads all of them first, to see
-- that none belongs to it: 0.14 s for a million rows in memory, during which the same are kept away. Where looking for
-- the day's rows, which reads as many and locks nothing, took more than two seconds, the day is left out as well.
--
-- The oldest goes first, of days and of rows without one, and of the rows of a shard those with the lowest numbers: so
-- that what is left of the log has no gaps.
--
-- The advisory lock is "tchskeep" in ASCII.
CREATE FUNCTION maintain_log(p_keep_days integer, p_now timestamptz DEFAULT clock_timestamp()) RETURNS text
LANGUAGE plpgsql VOLATILE SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET lock_timeout = '100ms'
AS $$
DECLARE
    today timestamptz := date_trunc('day', p_now);
    kept timestamptz := today - make_interval(days => p_keep_days);
    day timestamptz;
    began timestamptz;
    part text;
    since timestamptz;
BEGIN
    IF NOT pg_try_advisory_xact_lock(8386661776026330480) THEN
        RETURN NULL;
    END IF;
    FOR day IN
        SELECT d FROM generate_series(today, today + interval '3 days', interval '1 day') AS d
        WHERE NOT EXISTS (SELECT FROM log_partitions() AS p WHERE p.lower <= d AND d < p.upper)
        ORDER BY d
    LOOP
        began := clock_timestamp();
        PERFORM FROM commit_log_rest AS r WHERE r.at >= day AND r.at < day + interval '1 day' OFFSET 10000 LIMIT 1;
        CONTINUE WHEN FOUND OR clock_timestamp() > began + interval '2 seconds';
        part := 'commit_log_' || to_char(day, 'YYYYMMDD');
        -- What had no partition moves to the one that is made for it.
        LOCK TABLE commit_log_rest IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('CREATE TABLE %I (LIKE commit_log_rest INCLUDING ALL) WITH ('
            'autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', part);
        EXECUTE format('WITH moved AS (DELETE FROM commit_log_rest WHERE at >= %L AND at < %L RETURNING *)
            INSERT INTO %I SELECT * FROM moved', day, day + interval '1 day', part);
        EXECUTE format('ALTER TABLE commit_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, day,
            day + interval '1 day');
        RETURN 'made ' || part;
    END LOOP;
    SELECT p.name, p.lower INTO part, since FROM log_partitions() AS p
        WHERE p.upper <= kept ORDER BY p.upper LIMIT 1;
    DELETE FROM commit_log_rest AS r
    WHERE r.ctid = ANY (ARRAY(
        SELECT o.row FROM generate_series(0, 63) AS s (shard)
        CROSS JOIN LATERAL (
            SELECT n.shard, n.at FROM commit_log_rest AS n WHERE n.shard = s.shard ORDER BY n.gseq LIMIT 1) AS f
        CROSS JOIN LATERAL (
            SELECT n.ctid AS row, n.at FROM commit_log_rest AS n
            WHERE n.shard = f.shard ORDER BY n.gseq LIMIT 10000) AS o
        WHERE f.at < coalesce(since, kept) AND o.at < coalesce(since, kept) LIMIT 10000));
    IF FOUND THEN
        RETURN 'dropped rows of commit_log_rest';
    END IF;
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', part);
        RETURN 'dropped ' || part;
    END IF;
    RETURN NULL;
END
$$;

-- Deletes up to 5000 sessions that were idle for p_idle_days, with their refusals, and returns how many; 0 when none is
-- left to do today, or when another committer is at it. A day's slack covers clocks that differ.
--
-- The sessions of HTTP's idempotency keys (`h:` and 32 characters) have one number only. They may start again once that
-- number has left the log, so they are deleted a day after the log. Requests without a key (`h:` and up to 13 characters)
-- are forgotten after a day: nobody can repeat them, and their gateway has its answer long before.
--
-- A clock decides only what is swept. The floor is the youngest session that was swept: none younger than it can have had a
-- row that is gone; an older one that never had any is refused, and its app joins without it. And a sweep that was made
-- under a date to come keeps no other from being made until then.
--
-- As many undo stacks go that have not changed since the oldest day of the log. A committer may still know such a stack:
-- none of its entries has a row in the log, so it is as good as empty. When only stacks are left to go, the next round of
-- the upkeep goes on.
--
-- The advisory lock is "tchsweep" in ASCII.
CREATE FUNCTION sweep_sessions(
    p_idle_days integer, p_log_days integer, p_now timestamptz DEFAULT clock_timestamp()
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET timezone = 'UTC' SET lock_timeout = '500ms'
AS $$
DECLARE
    today text := to_char(p_now, 'YYYYMMDD');
    idle timestamptz := date_trunc('day', p_now) - make_interval(days => p_idle_days);
    keyed timestamptz := date_trunc('day', p_now) - make_interval(days => p_log_days + 1);
    unkeyed timestamptz := date_trunc('day', p_now) - interval '1 day';
    gone bigint;
    emptied bigint;
    youngest text COLLATE "C";
BEGIN
    IF NOT pg_try_advisory_xact_lock(8386661776227657072)
        OR (SELECT m.value FROM meta AS m WHERE m.key = 'sessions_swept') = today THEN
        RETURN 0;
    END IF;
    WITH swept AS (
        DELETE FROM sessions AS s
        WHERE s.ctid = ANY (ARRAY(
                SELECT o.ctid FROM sessions AS o
                WHERE o.updated_at < CASE WHEN o.session NOT LIKE 'h:%' THEN idle
                    WHEN length(o.session) < 34 THEN unkeyed ELSE keyed END LIMIT 5000))
            AND s.updated_at < CASE WHEN s.session NOT LIKE 'h:%' THEN idle
                WHEN length(s.session) < 34 THEN unkeyed ELSE keyed END
        RETURNING s.room_id, s.session
    ), unused AS (
        DELETE FROM refusals AS r USING swept AS s WHERE r.room_id = s.room_id AND r.session = s.session
    )
    SELECT count(*), max(CASE WHEN length(split_part(s.session, '.', 1)) = 15 AND substr(s.session, 2, 1) <> ':'
        THEN split_part(s.session, '.', 1) END) INTO gone, youngest FROM swept AS s;
    -- Everything before the mark has ended; `~` sorts behind all that a name has.
    UPDATE meta AS m SET value = youngest || '~' WHERE m.key = 'session_floor' AND m.value < youngest || '~';
    DELETE FROM undo_stacks AS t
    WHERE t.ctid = ANY (ARRAY(SELECT o.ctid FROM undo_stacks AS o WHERE o.updated_at < keyed LIMIT 5000))
        AND t.updated_at < keyed;
    GET DIAGNOSTICS emptied = ROW_COUNT;
    IF gone = 0 AND emptied = 0 THEN
        INSERT INTO meta (key, value) VALUES ('sessions_swept', today)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END IF;
    RETURN gone;
END
$$;

-- MARK: Roles
--
-- Two roles: the owner, which migrates, and a runtime role, which the daemons connect as. The runtime role has no DDL and
-- exactly the rights on tables that the daemons' statements and the functions that they call need: those run with its
-- own rights. Only the log's days are made and dropped with the owner's.

-- One step of the log's upkeep, as maintain_log does it, for a role that may not create or drop tables: with the owner's
-- rights, by the server's clock, and keeping a day at least. Names are looked up in pg_catalog, then in the schema of the
-- tables, where new ones are made, and last among temporary objects, which therefore never replace the log's.
CREATE FUNCTION keep_log(p_keep_days integer) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
AS $$
BEGIN
    IF p_keep_days IS NULL OR p_keep_days < 1 THEN
        RAISE EXCEPTION 'the log is kept for a day at least' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN maintain_log(p_keep_days);
END
$$;
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION keep_log(integer) SET search_path = %I, pg_temp', current_schema());
END
$$;
REVOKE ALL ON FUNCTION keep_log(integer) FROM PUBLIC;

-- Gives a role the rights of the daemons, and is safe to repeat; runtime_roles tells which roles have them. Rights on other
-- schemas and databases are not its business.
CREATE FUNCTION grant_runtime(p_role name) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = p_role) THEN
        RAISE EXCEPTION 'there is no role %', p_role USING ERRCODE = 'undefined_object';
    END IF;
    IF pg_has_role(p_role, (SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'meta'::regclass), 'MEMBER') THEN
        RAISE EXCEPTION '% owns the tables, or is a superuser: the runtime role must be another one', p_role
            USING ERRCODE = 'invalid_grant_operation';
    END IF;
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC, %I', current_schema(), p_role);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), p_role);
    EXECUTE format('REVOKE ALL ON meta, history, shards, rooms, elements, commit_log, sessions, refusals, '
        'session_floors, undo_stacks, schema_migrations FROM %I', p_role);
    EXECUTE format('GRANT SELECT ON meta, history, shards, rooms, elements, commit_log, sessions, refusals, '
        'session_floors, undo_stacks, schema_migrations TO %I', p_role);
    EXECUTE format('GRANT INSERT ON meta, rooms, elements, commit_log, sessions, refusals, session_floors, '
        'undo_stacks TO %I', p_role);
    EXECUTE format('GRANT UPDATE ON history, shards, rooms, elements, sessions, session_floors, undo_stacks TO %I',
        p_role);
    EXECUTE format('GRANT UPDATE (value) ON meta TO %I', p_role);
    -- Elements and the log lose no row: deleted elements keep theirs, and days are dropped by keep_log.
    EXECUTE format('GRANT DELETE ON sessions, refusals, undo_stacks TO %I', p_role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION keep_log(integer) TO %I', p_role);
END
$$;
REVOKE ALL ON FUNCTION grant_runtime(name) FROM PUBLIC;

-- The roles that have the rights of daemons: those that may call keep_log. A later migration gives them rights on what it
-- makes by calling grant_runtime again. Nobody but the owner can add one, as a note in a table could be.
CREATE FUNCTION runtime_roles() RETURNS SETOF name
LANGUAGE sql STABLE
AS $$
    SELECT r.rolname
    FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(p.proacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee
    WHERE p.oid = 'keep_log(integer)'::regprocedure AND a.grantee <> p.proowner
    ORDER BY r.rolname
$$;
