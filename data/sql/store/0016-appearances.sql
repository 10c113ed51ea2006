-- The appearance of a character becomes one JSON text in its row, so that a character list is one
-- statement. {"appearance": {field: value}, "colors": {field: [red, green, blue, signed]},
-- "equipment": [[slot, model, red, green, blue, highlight red, green, blue]]}; a missing kind is
-- empty. Values that JSON does not have (binary ones, infinite numbers) were unusable and are left
-- out; the copy that the server makes before a migration still has them.

ALTER TABLE characters ADD COLUMN appearance TEXT NOT NULL DEFAULT '{}';

ALTER TABLE world_characters ADD COLUMN appearance TEXT NOT NULL DEFAULT '{}';

UPDATE characters SET appearance = json_object(
    'appearance', json((
        SELECT json_group_object(field, value) FROM character_appearance
        WHERE character_id = characters.id
    )),
    'colors', json((
        SELECT json_group_object(field, json_array(red, green, blue, signed)) FROM character_colors
        WHERE character_id = characters.id
    )),
    'equipment', json((
        SELECT json_group_array(json_array(
            slot, model, red, green, blue, highlight_red, highlight_green, highlight_blue
        ))
        FROM character_equipment WHERE character_id = characters.id
    ))
);

UPDATE world_characters SET appearance = json_object(
    'appearance', json((
        SELECT json_group_object(field, value) FROM world_character_appearance
        WHERE character_id = world_characters.id
        AND typeof(value) <> 'blob' AND value NOT IN (9e999, -9e999)
    )),
    'colors', json((
        SELECT json_group_object(field, json_array(red, green, blue, signed))
        FROM world_character_colors WHERE character_id = world_characters.id
    ))
);

DROP TABLE character_appearance;
DROP TABLE character_colors;
DROP TABLE character_equipment;
DROP TABLE world_character_appearance;
DROP TABLE world_character_colors;
