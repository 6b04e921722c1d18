/// The log by days. Rows go to the partition of the day on which they were written, so that whole days can be dropped.
///
/// A key over a partitioned table must contain the day, so none holds over all partitions: each has its own, as the
/// table had before. That is enough. A room's and a shard's numbers come from rows that are moved under the shard's
/// lock from a version to the next one, and a session's number is only used when it is above the session's highest.
enum LogPartitionSQL {
    /// Makes the log that is there the first partition, without copying a row, and a default partition that takes what
    /// has no day of its own: a commit never fails for want of a partition.
    static let partitions = #"""
        ALTER TABLE shards ADD COLUMN chain bigint NOT NULL DEFAULT 0;
        COMMENT ON COLUMN shards.chain IS 'hash over all rows of the shard''s log in order; 0: none yet';
        ALTER TABLE commit_log ADD COLUMN chain bigint NOT NULL DEFAULT 0;
        COMMENT ON COLUMN commit_log.chain IS 'shards.chain after the row; 0: written before there was one';
        ALTER TABLE commit_log RENAME TO commit_log_first;
        CREATE TABLE commit_log (
            LIKE commit_log_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS
        ) PARTITION BY RANGE (at);
        CREATE TABLE commit_log_rest (LIKE commit_log_first INCLUDING ALL);
        ALTER TABLE commit_log ATTACH PARTITION commit_log_rest DEFAULT;
        DO $$
        BEGIN
            PERFORM set_config('timezone', 'UTC', true);
            EXECUTE format('ALTER TABLE commit_log ATTACH PARTITION commit_log_first FOR VALUES FROM (MINVALUE) TO (%L)',
                (SELECT greatest(date_trunc('day', clock_timestamp()), date_trunc('day', max(at))) + interval '1 day'
                 FROM commit_log_first));
        END
        $$;
        """#

    /// The partitions that hold days, with their bounds.
    static let logPartitions = #"""
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
        """#

    /// One step of the log's upkeep: makes one missing day of today and the next three, else drops one day that is
    /// over, and tells what it did; null when there is nothing left to do, or somebody else is at it.
    ///
    /// A day is made beside the log and attached, which commits do not wait for. Dropping one takes the whole log for
    /// a moment; when that moment does not come within half a second, the step fails and the next round tries again.
    static let maintainLog = #"""
        CREATE FUNCTION maintain_log(p_keep_days integer, p_now timestamptz DEFAULT clock_timestamp()) RETURNS text
        LANGUAGE plpgsql VOLATILE SET timezone = 'UTC' SET datestyle = 'ISO, YMD' SET lock_timeout = '500ms'
        AS $$
        DECLARE
            today timestamptz := date_trunc('day', p_now);
            day timestamptz;
            part text;
        BEGIN
            IF NOT pg_try_advisory_xact_lock(\#(Self.lockKey)) THEN
                RETURN NULL;
            END IF;
            SELECT d INTO day FROM generate_series(today, today + interval '3 days', interval '1 day') AS d
                WHERE NOT EXISTS (SELECT FROM log_partitions() AS p WHERE p.lower <= d AND d < p.upper)
                ORDER BY d LIMIT 1;
            IF FOUND THEN
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
            END IF;
            SELECT p.name INTO part FROM log_partitions() AS p
                WHERE p.upper <= today - make_interval(days => p_keep_days) ORDER BY p.upper LIMIT 1;
            IF FOUND THEN
                EXECUTE format('DROP TABLE %I', part);
                RETURN 'dropped ' || part;
            END IF;
            DELETE FROM commit_log_rest WHERE at < today - make_interval(days => p_keep_days);
            RETURN NULL;
        END
        $$;
        """#

    /// Held by who maintains, for one step ("tchskeep" in ASCII).
    private static let lockKey: Int64 = 0x7463_6873_6b65_6570

    /// Everything, in the order in which it is created.
    static let all = [Self.partitions, Self.logPartitions, Self.maintainLog]
}
