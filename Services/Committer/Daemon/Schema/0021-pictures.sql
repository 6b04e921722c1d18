-- An element may have a picture in it: a data URL of 192 KiB beside all else that it had before.
CREATE OR REPLACE FUNCTION element_is_sound(
    room_id text, id text, seq bigint, deleted_seq bigint, parent_id text, updated_by text, data json
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN octet_length(room_id) BETWEEN 1 AND 64 AND octet_length(id) BETWEEN 1 AND 128 AND seq > 0
        AND (parent_id IS NULL OR octet_length(parent_id) BETWEEN 1 AND 128) AND octet_length(updated_by) BETWEEN 1 AND 256
        AND CASE WHEN data IS NULL THEN deleted_seq IS NOT DISTINCT FROM seq
            ELSE deleted_seq IS NULL AND data::text LIKE '{%' AND octet_length(data::text) <= 262144 END;
END
$$;
