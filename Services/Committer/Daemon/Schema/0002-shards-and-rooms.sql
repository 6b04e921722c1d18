-- Everything is keyed by shard or room, so that rooms can be spread over machines later on.

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

CREATE TABLE rooms (
    room_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(room_id) BETWEEN 1 AND 64),
    shard   smallint NOT NULL CHECK (shard BETWEEN 0 AND 63),
    seq     bigint NOT NULL CHECK (seq >= 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

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
