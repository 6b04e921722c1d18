-- The elements of all rooms. A deleted one keeps its row, so that its id is never used again.

-- The last line of defence, not the rules: it holds for every element type and every rules file. Columns that may not
-- be null are left to NOT NULL. `BETWEEN` refuses NaN and the infinities, because PostgreSQL orders NaN above every
-- number.
--
-- One function instead of a CHECK per column, because PostgreSQL parses the text of every CHECK again for every
-- statement, while a function's plan is kept from call to call.
CREATE FUNCTION element_is_sound(
    room_id text, element_id text, type text, position_x float8, position_y float8, rotation float8, scale_x float8,
    scale_y float8, original_width float8, original_height float8, width float8, height float8, anchor_x float8,
    anchor_y float8, created_by text, updated_by text, rev bigint, snap_degrees float8, bounds_x float8,
    bounds_y float8, bounds_width float8, bounds_height float8, font_size float8, z_index float8, space text,
    parent_id text, extra json, seq bigint, deleted_seq bigint
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN octet_length(room_id) BETWEEN 1 AND 64 AND octet_length(element_id) BETWEEN 1 AND 128
        AND octet_length(type) <= 128 AND position_x BETWEEN -1e9 AND 1e9 AND position_y BETWEEN -1e9 AND 1e9
        AND rotation >= 0 AND rotation < 360 AND scale_x BETWEEN -1e10 AND 1e10 AND scale_y BETWEEN -1e10 AND 1e10
        AND original_width BETWEEN 0 AND 1e12 AND original_height BETWEEN 0 AND 1e12
        AND width BETWEEN 0 AND 1e21 AND height BETWEEN 0 AND 1e21
        AND anchor_x BETWEEN -1e9 AND 1e9 AND anchor_y BETWEEN -1e9 AND 1e9
        AND octet_length(created_by) BETWEEN 1 AND 256 AND octet_length(updated_by) BETWEEN 1 AND 256 AND rev >= 1
        AND (snap_degrees IS NULL OR snap_degrees > 0 AND snap_degrees <= 180)
        AND CASE num_nulls(bounds_x, bounds_y, bounds_width, bounds_height)
            WHEN 4 THEN true
            WHEN 0 THEN bounds_x BETWEEN -1e12 AND 1e12 AND bounds_y BETWEEN -1e12 AND 1e12
                AND bounds_width BETWEEN 0 AND 1e12 AND bounds_height BETWEEN 0 AND 1e12
            ELSE false END
        AND (font_size IS NULL OR abs(font_size) < 'Infinity') AND (z_index IS NULL OR abs(z_index) < 'Infinity')
        AND (parent_id IS NULL OR octet_length(parent_id) BETWEEN 1 AND 128)
        AND (extra IS NULL OR extra::text LIKE '{%}' AND octet_length(extra::text) <= 16384)
        AND seq > 0 AND (deleted_seq IS NULL OR deleted_seq = seq)
        AND CASE space
            WHEN 'canvas' THEN position_x = trunc(position_x) AND position_y = trunc(position_y)
            WHEN 'normalized' THEN position_x BETWEEN 0 AND 1 AND position_y BETWEEN 0 AND 1 AND parent_id IS NOT NULL
            ELSE false END;
END
$$;

CREATE TABLE elements (
    room_id         text COLLATE "C" NOT NULL,
    element_id      text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL,
    position_x      float8 NOT NULL,
    position_y      float8 NOT NULL,
    rotation        float8 NOT NULL,
    scale_x         float8 NOT NULL,
    scale_y         float8 NOT NULL,
    original_width  float8 NOT NULL,
    original_height float8 NOT NULL,
    width           float8 NOT NULL GENERATED ALWAYS AS (original_width * abs(scale_x)) STORED,
    height          float8 NOT NULL GENERATED ALWAYS AS (original_height * abs(scale_y)) STORED,
    anchor_x        float8 NOT NULL,
    anchor_y        float8 NOT NULL,
    created_by      text COLLATE "C" NOT NULL,
    updated_by      text COLLATE "C" NOT NULL,
    rev             bigint NOT NULL,
    locked          boolean NOT NULL,
    snap_degrees    float8,
    bounds_x        float8,
    bounds_y        float8,
    bounds_width    float8,
    bounds_height   float8,
    font_size       float8,
    z_index         float8,
    space           text COLLATE "C" NOT NULL,
    parent_id       text COLLATE "C",
    extra           json,
    seq             bigint NOT NULL,
    deleted_seq     bigint,
    PRIMARY KEY (room_id, element_id),
    CONSTRAINT elements_check CHECK (element_is_sound(
        room_id, element_id, type, position_x, position_y, rotation, scale_x, scale_y, original_width, original_height,
        width, height, anchor_x, anchor_y, created_by, updated_by, rev, snap_degrees, bounds_x, bounds_y, bounds_width,
        bounds_height, font_size, z_index, space, parent_id, extra, seq, deleted_seq))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX elements_parent ON elements (room_id, parent_id) WHERE parent_id IS NOT NULL;
COMMENT ON COLUMN elements.seq IS 'the room''s number of the last update of the element';
COMMENT ON COLUMN elements.deleted_seq IS 'set once deleted: the row stays, so that its id is never used again';
COMMENT ON COLUMN elements.extra IS 'the app''s own fields, verbatim; null: none';

-- The flat element as JSON text, its fields in the order in which the daemons write them.
CREATE FUNCTION element_json(e elements) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT '{"id":' || to_json(e.element_id) || ',"type":' || to_json(e.type)
        || ',"positionX":' || e.position_x || ',"positionY":' || e.position_y
        || ',"width":' || e.width || ',"height":' || e.height || ',"rotation":' || e.rotation
        || ',"scaleX":' || e.scale_x || ',"scaleY":' || e.scale_y
        || ',"originalWidth":' || e.original_width || ',"originalHeight":' || e.original_height
        || ',"anchorX":' || e.anchor_x || ',"anchorY":' || e.anchor_y
        || ',"createdBy":' || to_json(e.created_by) || ',"updatedBy":' || to_json(e.updated_by)
        || ',"rev":' || e.rev
        || CASE WHEN e.locked THEN ',"locked":true' ELSE '' END
        || coalesce(',"snapDegrees":' || e.snap_degrees, '')
        || coalesce(',"bounds":{"x":' || e.bounds_x || ',"y":' || e.bounds_y || ',"width":' || e.bounds_width
            || ',"height":' || e.bounds_height || '}', '')
        || coalesce(',"fontSize":' || e.font_size, '') || coalesce(',"zIndex":' || e.z_index, '')
        || CASE WHEN e.space = 'normalized' THEN ',"space":"normalized"' ELSE '' END
        || coalesce(',"parentId":' || to_json(e.parent_id), '')
        || CASE WHEN e.extra IS NULL OR e.extra::text = '{}' THEN '}'
                ELSE ',' || substr(e.extra::text, 2) END
$$;
