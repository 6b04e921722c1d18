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
        'session_floors, schema_migrations FROM %I', p_role);
    EXECUTE format('GRANT SELECT ON meta, history, shards, rooms, elements, commit_log, sessions, refusals, '
        'session_floors, schema_migrations TO %I', p_role);
    EXECUTE format('GRANT INSERT ON meta, rooms, elements, commit_log, sessions, refusals, session_floors TO %I', p_role);
    EXECUTE format('GRANT UPDATE ON history, shards, rooms, elements, sessions, session_floors TO %I', p_role);
    EXECUTE format('GRANT UPDATE (value) ON meta TO %I', p_role);
    -- Elements and the log lose no row: deleted elements keep theirs, and days are dropped by keep_log.
    EXECUTE format('GRANT DELETE ON sessions, refusals TO %I', p_role);
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
