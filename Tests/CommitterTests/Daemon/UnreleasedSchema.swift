/// What a database from before the first release says of itself.
let unreleasedSchema = """
    CREATE TABLE schema_migrations (version bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO schema_migrations (version, name, checksum) VALUES
        (1, 'tables', 'a42bfaa5ce92627e'), (2, 'functions', '9d2c97fbf7a7b140'), (3, 'log by days', 'c7d7c9a755471225'),
        (4, 'end of sessions', '9271afe82510450e'), (5, 'history', '8ec6b6db38318833'),
        (6, 'checks', 'dc17257d723a4a20'), (7, 'update first', '0ec15393f7b527c3'),
        (8, 'arrays by place', '3c96a1cacd7a8a38')
    """
