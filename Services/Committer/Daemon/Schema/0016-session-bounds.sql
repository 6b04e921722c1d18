-- Bounds that hold whatever comes: a user's sessions in a room, the rows among which the undo stacks are found, and what
-- one step of the log's upkeep moves.
--
-- A user had `user-sessions` sessions in a room at most only while all of them committed. A viewer who joined with one
-- session after the other made a row for each, and none went; and once there were very many, one batch deleted them all,
-- under the lock of the shard's row. Now claims bound them as well, each addition deletes 32 at most, and beyond twice
-- the bound the oldest go even if they are in use: they can only be the same user's.
--
-- A user's sessions are looked up as a range of (user_id, session), in this order, and nothing is sorted that need not be:
-- only sessions_user has the order. While the planner believes that a room has one session it prefers the key otherwise,
-- and reads the sessions of everybody. Where something must be sorted after all the plan seems to be dear beyond measure:
-- without jit = off it would be compiled each time.

COMMENT ON TABLE meta IS 'epoch: names this database history; session_key: secret that seals session tokens; '
    'session_floor, sessions_swept: see sweep_sessions; user_sessions: see evict_sessions';

-- The bound for claims, which come from fan-outs: those do not know the committers' settings. Until the first batch
-- after this file says what is set it is the default.
INSERT INTO meta (key, value) VALUES ('user_sessions', '1000') ON CONFLICT (key) DO NOTHING;

-- evict_requests as before, but the rows are found first, and then deleted: joined, each row of the room was looked at.
CREATE OR REPLACE FUNCTION evict_requests(p_rooms text[], p_users text[], p_most integer) RETURNS void
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
            ORDER BY n.made_at DESC NULLS LAST OFFSET p_most LIMIT 1) AS o
    LOOP
        WITH old AS (
            SELECT n.ctid AS row FROM sessions AS n
            WHERE n.room_id = u.room AND n.user_id = u.usr AND substr(n.session, 1, 2) = 'h:'
                AND (n.made_at IS NULL OR n.made_at <= u.made_at)
            ORDER BY n.made_at NULLS FIRST LIMIT 32
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
--
-- Finding out which row has the user's undo stacks would mean reading all of them. Instead the youngest row inherits the
-- stacks of the deleted ones, unless its own are newer: they are found by the highest version, so a copy of older ones
-- than the current changes nothing.
CREATE OR REPLACE FUNCTION evict_user_sessions(p_rooms text[], p_users text[], p_most bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET jit = off SET enable_sort = off SET enable_incremental_sort = off
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    u record;
    surplus text;
    heir tid;
    last sessions;
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
            DELETE FROM sessions AS s USING old AS o WHERE s.ctid = o.row RETURNING s.*
        ), unused AS (
            DELETE FROM refusals AS r
            USING (
                SELECT o.row FROM evicted AS e
                CROSS JOIN LATERAL (
                    SELECT k.ctid AS row FROM refusals AS k
                    WHERE k.room_id = e.room_id AND k.session = e.session OFFSET 0) AS o OFFSET 0) AS o
            WHERE r.ctid = o.row
        ), ended AS (
            INSERT INTO session_floors AS f (room_id, user_id, floor)
            SELECT e.room_id, e.user_id, max(split_part(e.session, '.', 1)) FROM evicted AS e
            GROUP BY e.room_id, e.user_id
            ON CONFLICT (room_id, user_id) DO UPDATE SET floor = greatest(f.floor, excluded.floor)
        )
        SELECT e.* INTO last FROM evicted AS e ORDER BY e.undo_version DESC LIMIT 1;
        IF last.undo_version > 0 THEN
            SELECT n.ctid INTO heir FROM sessions AS n
            WHERE n.room_id = u.room AND n.user_id <= u.usr AND (n.user_id, n.session) > (u.usr, u.beyond)
                AND substr(n.session, 2, 1) <> ':'
            ORDER BY n.user_id DESC, n.session DESC LIMIT 1 FOR UPDATE SKIP LOCKED;
            UPDATE sessions AS s SET
                undo_version = last.undo_version, undo_head = last.undo_head, undo_depth = last.undo_depth,
                redo_head = last.redo_head, redo_depth = last.redo_depth, undo_group = last.undo_group,
                undo_group_rows = last.undo_group_rows, undo_group_bytes = last.undo_group_bytes
            WHERE s.ctid = heir AND s.undo_version < last.undo_version;
        END IF;
    END LOOP;
END
$$;

-- evict_sessions as before, but for the above, and it tells claims the bound. Nothing is written unless that has
-- changed; a batch that finds the row locked leaves it to the next one, so that shards do not wait for each other. An
-- operator's command writes as the user `operator`, with the default instead of the committers' setting. Committers
-- should have the same one: of two that differ, the one that adds a session later decides.
CREATE OR REPLACE FUNCTION evict_sessions(p_rooms text[], p_users text[], p_most integer) RETURNS void
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

-- claim_session as before, and what it adds is bounded.
--
-- A name that twice as many as the bound are younger than, as of a client that slept for days, gets no row: it would be
-- among the next to go, perhaps with commits on their way. It is refused at once, nothing was committed under it, and
-- its app joins without it and gets a name that is the youngest. With fewer than that the new row is kept like any that
-- is in use.
CREATE OR REPLACE FUNCTION claim_session(p_room text, p_session text, p_user text)
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

-- load_shard_state as before, but a user's stacks are looked for in all of the user's sessions instead of the youngest
-- 1000 names: after so many claims without a commit they seemed to be empty, and the next commit wrote them so. There
-- are not many more than twice `user-sessions` rows any more. No index has the versions, since an update of a row that
-- changes nothing indexed costs no index anything.
CREATE OR REPLACE FUNCTION load_shard_state(
    p_shard smallint, r_room text[], s_room text[], s_session text[], e_room text[], e_id text[],
    e_family boolean[], d_room text[], d_session text[], d_n bigint[],
    u_room text[] DEFAULT '{}', u_user text[] DEFAULT '{}', h_room text[] DEFAULT '{}', h_seq bigint[] DEFAULT '{}',
    a_room text[] DEFAULT '{}', a_id text[] DEFAULT '{}', s_user text[] DEFAULT '{}',
    h_ahead bigint[] DEFAULT '{}'
) RETURNS TABLE (
    kind smallint, room_id text, key text, n bigint, seq bigint, hash bigint, detail text, before text,
    after text, undo json)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET extra_float_digits = 1 SET jit = off
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_sort = off SET enable_incremental_sort = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT 0::smallint, NULL::text, NULL::text, s.version, s.gseq, s.chain,
        (SELECT m.value FROM meta AS m WHERE m.key = 'session_floor'), NULL::text, NULL::text, NULL::json
        FROM shards AS s WHERE s.shard = p_shard;
    IF cardinality(r_room) > 0 THEN
        RETURN QUERY SELECT 1::smallint, r.room_id, NULL::text, t.elements::bigint, r.seq, t.bytes, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(r_room) AS k (room)
            CROSS JOIN LATERAL (SELECT * FROM rooms AS o WHERE o.room_id = k.room OFFSET 0) AS r
            CROSS JOIN LATERAL (
                SELECT r.elements, r.bytes WHERE r.bytes IS NOT NULL
                UNION ALL
                SELECT c.elements, c.bytes FROM room_totals(r.room_id) AS c WHERE r.bytes IS NULL) AS t;
    END IF;
    IF cardinality(s_room) > 0 THEN
        RETURN QUERY SELECT 2::smallint, s.room_id, s.session, s.hw, s.claim::bigint, NULL::bigint, s.user_id,
            NULL::text, NULL::text, NULL::json
            FROM unnest(s_room, s_session) AS k (room, session)
            CROSS JOIN LATERAL (
                SELECT * FROM sessions AS o WHERE o.room_id = k.room AND o.session = k.session OFFSET 0) AS s;
        RETURN QUERY SELECT 9::smallint, k.room, k.session, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(s_room, s_session, s_user) AS k (room, session, usr)
            WHERE is_session_evicted(k.room, k.session, k.usr);
    END IF;
    IF cardinality(e_room) > 0 THEN
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, e.text, NULL::json
            FROM unnest(e_room, e_id) AS k (room, id)
            CROSS JOIN LATERAL (
                SELECT o.room_id, o.element_id, o.deleted_seq, o.seq,
                    CASE WHEN o.deleted_seq IS NULL THEN element_json(o) END AS text
                FROM elements AS o WHERE o.room_id = k.room AND o.element_id = k.id OFFSET 0) AS e;
        RETURN QUERY SELECT 3::smallint, e.room_id, e.element_id, e.deleted_seq, e.seq, NULL::bigint,
            NULL::text, NULL::text, e.text, NULL::json
            FROM unnest(e_room, e_id, e_family) AS k (room, id, family)
            CROSS JOIN LATERAL (
                SELECT o.room_id, o.element_id, o.deleted_seq, o.seq, element_json(o) AS text FROM elements AS o
                WHERE o.room_id = k.room AND o.parent_id = k.id AND o.deleted_seq IS NULL OFFSET 0) AS e
            WHERE k.family;
    END IF;
    IF cardinality(d_room) > 0 THEN
        RETURN QUERY SELECT 4::smallint, l.room_id, l.session, l.n, l.seq, l.body_hash, l.event,
            l.before::text, l.after::text, l.undone
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            CROSS JOIN LATERAL (
                SELECT * FROM commit_log AS o
                WHERE o.room_id = k.room AND o.session = k.session AND o.n = k.n OFFSET 0) AS l;
        RETURN QUERY SELECT 5::smallint, f.room_id, f.session, f.n, NULL::bigint, f.body_hash, NULL::text,
            NULL::text, f.refusal::text, NULL::json
            FROM unnest(d_room, d_session, d_n) AS k (room, session, n)
            CROSS JOIN LATERAL (
                SELECT * FROM refusals AS o
                WHERE o.room_id = k.room AND o.session = k.session AND o.n = k.n OFFSET 0) AS f;
    END IF;
    IF cardinality(u_room) > 0 THEN
        RETURN QUERY SELECT 6::smallint, k.room, k.usr, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, json_build_object(
                'version', t.undo_version, 'undo', t.undo_head, 'undoDepth', t.undo_depth, 'redo', t.redo_head,
                'redoDepth', t.redo_depth, 'group', t.undo_group, 'groupRows', t.undo_group_rows,
                'groupBytes', t.undo_group_bytes)
            FROM unnest(u_room, u_user) AS k (room, usr)
            CROSS JOIN LATERAL (
                SELECT r.* FROM (
                    SELECT s.* FROM sessions AS s
                    WHERE s.room_id = k.room AND s.user_id BETWEEN k.usr AND k.usr AND substr(s.session, 2, 1) <> ':'
                    ORDER BY s.user_id DESC, s.session DESC OFFSET 0) AS r
                ORDER BY r.undo_version DESC LIMIT 1) AS t;
    END IF;
    IF cardinality(h_room) > 0 THEN
        RETURN QUERY
            WITH RECURSIVE entry AS (
                SELECT l.*, k.seq AS head, coalesce(k.ahead, 0) AS ahead, 1 AS nth,
                    octet_length(concat(l.before, l.after)) AS bytes
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
            SELECT 7::smallint, e.room_id, NULL::text, e.head, e.seq, NULL::bigint, e.event, e.before::text,
                e.after::text, json_build_object('next', e.undo_next, 'rest', e.undo_rest)
            FROM entry AS e ORDER BY e.room_id, e.head, e.seq DESC;
    END IF;
    IF cardinality(a_room) > 0 THEN
        RETURN QUERY SELECT 8::smallint, k.room, k.id, c.annotations, NULL::bigint, NULL::bigint, NULL::text,
            NULL::text, NULL::text, NULL::json
            FROM unnest(a_room, a_id) AS k (room, id)
            CROSS JOIN LATERAL (
                SELECT count(*) AS annotations FROM elements AS e
                WHERE e.room_id = k.room AND e.parent_id = k.id AND e.deleted_seq IS NULL) AS c;
    END IF;
END
$$;

-- maintain_log as before, but rows that had no day of their own keep nobody from anything.
--
-- Where the log had no days made for a while, its default partition has the rows of all of them. Moving a day's to the
-- partition that is made for it keeps commits and readers away meanwhile, and beyond some hundred thousand rows took
-- longer than a statement may: then no day was made any more, none was dropped, and no session swept. Now a day with
-- more than 10,000 rows there stays there, the next ones are made, and old rows go in steps of 10,000.
--
-- A day can be attached while the default partition has rows of others, but PostgreSQL reads all of them first, to see
-- that none belongs to it: 0.14 s for a million rows in memory, during which the same are kept away. Where looking for
-- the day's rows, which reads as many and locks nothing, took more than two seconds, the day is left out as well.
--
-- The oldest goes first, of days and of rows without one, and of the rows of a shard those with the lowest numbers: so
-- that what is left of the log has no holes.
CREATE OR REPLACE FUNCTION maintain_log(p_keep_days integer, p_now timestamptz DEFAULT clock_timestamp()) RETURNS text
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
