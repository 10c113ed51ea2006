"""Converts a character of EQ2Emulator's world database into one of the built-in world.

`compose` is a plain function of rows: it does not access a store. What the world does not have,
such as an unknown title, is left out with a reason. Source of the columns:
docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from emu.appearance import LARGEST_MODEL, SLIDER_FIELDS, slider
from emu.facts import U8, U16, U32
from emu.guilds import GuildMember
from emu.items.held import MOST_COUNT, Thing, Where
from emu.items.held import Place as ThingPlace
from emu.model import Color, KnownSkill, Place, Title, WorldCharacter
from emu.sqldump.report import LARGEST, Columns, copper, fraction, moment, number, text, visible
from emu.store.eq2emu_collections import ImportedCollections
from emu.store.eq2emu_guilds import GUILD_MEMBERS, GUILDS, read_member
from emu.store.eq2emu_hotbars import ImportedHotbars
from emu.store.eq2emu_houses import ImportedHouse, ImportedHouses
from emu.store.eq2emu_letters import LETTERS, ImportedLetter, ImportedLetters
from emu.store.eq2emu_past import ImportedPast
from emu.store.eq2emu_quests import ImportedQuests
from emu.store.eq2emu_rows import BELONGINGS, DumpRow
from emu.usable import usable_world_character

LONGEST_NAME: Final = 63
LONGEST_TITLE: Final = 63
MOST_RANK: Final = 1000
WORN: Final = {"EQUIPPED": Where.WORN, "APPEARANCE": Where.APPEARANCE}
"""The lists of worn things by the type of their rows."""
MOST_SOLD: Final = 10
"""The things that a character can buy back, the newest ones."""
BANKS: Final = {-3: Where.BANK, -4: Where.SHARED}
RELATIONS: Final = {"FRIEND": 0, "IGNORE": 2}
MODELS: Final = {
    prefix + column: prefix + field
    for prefix in ("", "soga_")
    for column, field in {
        "model_type": "model_type",
        "hair_type": "hair_type_id",
        "facial_hair_type": "facial_hair_type_id",
        "chest_type": "chest_type_id",
        "legs_type": "legs_type_id",
    }.items()
}
"""Column of characters -> field of a ghost that holds the same model's number."""
BODY_SIZE: Final = "body_size"
_REQUEST_NAMES: Final = {field: name for name, field in SLIDER_FIELDS.items()}
"""Name of a slider in rows -> its name in create requests, which the world's rows have."""


class BuiltInWorld(Protocol):
    """The content of the built-in world, as far as characters refer to it."""

    @property
    def name(self) -> str:
        """The name that players see."""

    def zone_file(self, zone_id: int) -> str | None:
        """Return the file name of a zone; None for an unknown zone."""

    def zone_description(self, zone_id: int) -> str:
        """Return the name of a zone that players see; empty for an unknown zone."""

    def start_of(self, character: WorldCharacter) -> tuple[int, Place | None]:
        """Return the zone of new characters like this one, and the place in it."""

    def title(self, title_id: int) -> Title | None:
        """Return a title by number."""

    def pieces_of(self, collection: int) -> Sequence[int]:
        """Return the items of a collection by their places; none for an unknown one."""

    def has_home(self, home: int) -> bool:
        """Return whether there is a house of the content with this number."""

    @property
    def letter_seconds(self) -> float:
        """How long a letter is kept."""

    def spell_icon(self, spell_id: int) -> tuple[int, int]:
        """Return icon and backdrop of a spell; zeros for an unknown one."""


@dataclass(slots=True)
class Composed:
    """A character, and the rows that are not in it."""

    character: WorldCharacter
    lost_zone: str = ""
    """The zone that the built-in world does not have; empty if it has it."""
    left_out: list[tuple[DumpRow, str]] = field(default_factory=list)
    """Rows that cannot be imported, with the reasons."""
    later: list[str] = field(default_factory=list)
    """Names of what cannot be used yet."""
    problems: list[str] = field(default_factory=list)
    """Values that were replaced."""
    things: tuple[Thing, ...] = ()
    """What it has, with the numbers of the dump."""
    sold: tuple[Thing, ...] = ()
    """What it can buy back, the oldest first, with numbers below 0."""
    books: tuple[Thing, ...] = ()
    """The recipe books that it has learned, with numbers below those of `sold`."""
    pieces: tuple[Thing, ...] = ()
    """The pieces of its collections, with numbers below those of `books`."""
    houses: tuple[ImportedHouse, ...] = ()
    """Its houses; their things have numbers below those of `pieces`."""
    bank: int = 0
    """Its coins in the bank, in copper."""
    guild: int = 0
    """The number of its guild in the dump; 0 for none."""
    membership: GuildMember | None = None
    """What it is in its guild."""
    letters: Sequence[ImportedLetter] = ()
    """Its letters, without the number of their recipient."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rows of a character refer to."""

    world: BuiltInWorld
    fact: Callable[[str, int], Columns | None]
    """Returns the row of a table (titles, zones, guilds) of the dump with a number."""
    facts: Callable[[str, int], Sequence[Columns]] = lambda _table, _number: ()
    """Returns all rows of a table with a number, for houses and ranks of guilds."""

    def title(self, title_id: int) -> Title:
        """Return a title of the dump, or else of the built-in world. Raises `ValueError`."""
        row = self.fact("titles", title_id)
        if row is not None:
            return Title(visible(row, "title", LONGEST_TITLE), number(row, "prefix") != 0)
        known = self.world.title(title_id)
        if known is None:
            raise ValueError(f"title {title_id} is unknown; dump the table titles too")
        return known

    def is_same_zone(self, zone_id: int) -> bool:
        """Return whether the built-in world has the zone that the dump has under this number."""
        own = self.world.zone_file(zone_id)
        row = self.fact("zones", zone_id)
        file = text(row, "file") if row is not None else ""
        # Two servers may number zones differently, so the file names decide. A dump without zones
        # has only the numbers.
        return own is not None and (not file or file.casefold() == own.casefold())

    def zone_name(self, zone_id: int) -> str:
        """Return the name of a zone of the dump, for people."""
        row = self.fact("zones", zone_id)
        name = text(row, "name") if row is not None else ""
        return (
            f"{name[:LONGEST_NAME]} ({zone_id})"
            if name.isprintable() and name
            else f"zone {zone_id}"
        )


def compose(
    columns: Columns, account_id: int, version: int, rows: Sequence[DumpRow], facts: Facts
) -> Composed:
    """Return a character of the built-in world, without an id, and what is not in it.

    `columns` is its row of the table characters, `rows` are its rows of the other tables, `version`
    is its player's client version. Raises `ValueError` if the character cannot be imported.
    """
    made = Composed(_character(columns, account_id, version))
    collected = _Collected()
    # One bad row must not cost the player the character.
    for row in rows:
        try:
            _TAKES[row.table](collected, row.columns, facts)
        except ValueError as error:
            made.left_out.append((row, str(error)))
    made.later = [*collected.hotbars.later, *collected.letters.later]
    made.things, made.letters = collected.placed(), collected.letters.letters
    made.sold, made.bank = tuple(collected.sold[-MOST_SOLD:]), collected.bank
    made.guild, made.membership = collected.guild, collected.membership
    made.books = tuple(
        Thing(-len(collected.sold) - place, item_id, ThingPlace(Where.HELD, 0, 0))
        for place, item_id in enumerate(collected.books, 1)
    )
    last = -len(collected.sold) - len(made.books)
    made.pieces = collected.collections.things(last)
    placed_badly: list[str] = []
    made.houses = collected.houses.houses(
        facts.facts, collected.things, last - len(made.pieces), placed_badly
    )
    character = replace(
        made.character,
        appearance={**made.character.appearance, **collected.appearance},
        colors=collected.colors,
        # Duplicates go; the first of each stays, so the order of the list is kept.
        titles=tuple(dict.fromkeys(title for title in collected.titles if title is not None)),
        relations=tuple(dict.fromkeys(collected.relations)),
        hotkeys=tuple(collected.hotbars.keys.values()),
        client_data=collected.hotbars.stored,
        skills=tuple(collected.skills[number] for number in sorted(collected.skills)),
        languages=tuple(sorted(collected.languages)),
        prefix=collected.shown_title(is_prefix=True),
        suffix=collected.shown_title(is_prefix=False),
        quests=collected.quests.quests,
        past=collected.past.stored,
        **collected.details,
    )
    if not facts.is_same_zone(character.zone_id):
        made.lost_zone = facts.zone_name(character.zone_id)
        # A character in a zone that is missing here starts where a new one like it would.
        zone_id, place = facts.world.start_of(character)
        character = replace(character, zone_id=zone_id, place=place)
    # Last, so that the checks see the character as it will be stored.
    made.character, problems = usable_world_character(character)
    made.problems = [*placed_badly, *(str(problem) for problem in problems)]
    return made


def _character(columns: Columns, account_id: int, version: int) -> WorldCharacter:
    name = visible(columns, "name", LONGEST_NAME)
    # As new names: with other characters it could look like another character's name.
    if not (name.isascii() and name.isalpha()):
        raise ValueError(f"its name {name!r} has other characters than letters A to Z")
    models = {
        field: number(columns, column, most=LARGEST_MODEL) for column, field in MODELS.items()
    }
    place = tuple(fraction(columns, axis) for axis in ("x", "y", "z", "heading"))
    return WorldCharacter(
        id=0,
        account_id=account_id,
        name=name,
        race=number(columns, "race", most=U8),
        class_=number(columns, "class", most=U8),
        gender=number(columns, "gender", most=U8),
        deity=number(columns, "deity", most=U8),
        level=number(columns, "level", 1, least=1, most=U8),
        starting_zone=number(columns, "starting_city"),
        zone_id=number(columns, "current_zone_id"),
        client_version=version,
        created=moment(columns, "created_date"),
        last_played=moment(columns, "last_played"),
        # Any negative number is a ban; `usable_world_character` bounds it.
        admin_status=number(columns, "admin_status", least=-U32, most=MOST_RANK),
        # 0 stands for no model.
        appearance={name: value for name, value in models.items() if value}
        | {BODY_SIZE: slider(fraction(columns, BODY_SIZE))},
        place=(place[0], place[1], place[2], place[3], 0),
        tradeskill_class=number(columns, "tradeskill_class", most=U8),
        tradeskill_level=number(columns, "tradeskill_level", 1, most=U8),
    )


@dataclass(slots=True)
class _Collected:
    """What the rows of one character add to it."""

    appearance: dict[str, int] = field(default_factory=dict)
    colors: dict[str, Color] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    prefix: int = -1
    suffix: int = -1
    """Places of the shown titles in the list of all titles."""
    titles: list[Title | None] = field(default_factory=list)
    """None for one that is left out: the others keep their places."""
    relations: list[tuple[int, str]] = field(default_factory=list)
    hotbars: ImportedHotbars = field(default_factory=ImportedHotbars)
    skills: dict[int, KnownSkill] = field(default_factory=dict)
    languages: set[int] = field(default_factory=set)
    things: dict[int, Thing] = field(default_factory=dict)
    sold: list[Thing] = field(default_factory=list)
    books: dict[int, None] = field(default_factory=dict)
    """The items of recipe books, in the order of their rows, each once."""
    bank: int = 0
    guild: int = 0
    membership: GuildMember | None = None
    letters: ImportedLetters = field(default_factory=ImportedLetters)
    past: ImportedPast = field(default_factory=ImportedPast)
    quests: ImportedQuests = field(default_factory=ImportedQuests)
    collections: ImportedCollections = field(default_factory=ImportedCollections)
    houses: ImportedHouses = field(default_factory=ImportedHouses)

    def shown_title(self, *, is_prefix: bool) -> str:
        """Return the title shown before, or after, the name; empty for none."""
        place = self.prefix if is_prefix else self.suffix
        title = self.titles[place] if 0 <= place < len(self.titles) else None
        return title.text if title is not None and title.is_prefix == is_prefix else ""

    def placed(self) -> tuple[Thing, ...]:
        """Return the things; what lies in a bag is in the bag's list."""
        found = []
        for thing in self.things.values():
            bag = self.things.get(thing.place.bag)
            where = thing.place.where if bag is None else bag.place.where
            found.append(replace(thing, place=thing.place._replace(where=where)))
        return tuple(found)

    def item(self, columns: Columns, _facts: Facts) -> None:
        """Add a thing; one that waits or has an unknown place waits here, too."""
        thing_id, item_id = number(columns, "id"), number(columns, "item_id")
        if not thing_id or not item_id:
            raise ValueError("it has no number, or no item")
        bag, slot = number(columns, "bag_id", least=-LARGEST), number(columns, "slot", least=-1)
        kind = text(columns, "type").upper()
        where = WORN.get(kind) or BANKS.get(bag, Where.BAGS if bag >= 0 else Where.OVERFLOW)
        place = ThingPlace(where, bag if bag > 0 and kind not in WORN else 0, max(0, slot))
        self.things[thing_id] = Thing(
            thing_id, item_id, place, max(1, number(columns, "count", 1, most=MOST_COUNT)),
            number(columns, "condition_", 100, most=100), number(columns, "attuned") != 0,
            text(columns, "creator")[:LONGEST_NAME], number(columns, "max_sell_value"),
            number(columns, "no_sale") != 0, moment(columns, "created"),
        )  # fmt: skip

    def buy_back(self, columns: Columns, _facts: Facts) -> None:
        """Add a thing that it has sold; its price is taken for that of one piece."""
        item_id = number(columns, "item_id")
        if not item_id:
            raise ValueError("it has no item")
        count = max(1, number(columns, "quantity", 1, most=MOST_COUNT))
        place = ThingPlace(Where.HELD, 0, 0)
        price = number(columns, "price")
        self.sold.append(Thing(-len(self.sold) - 1, item_id, place, count, most_price=price))

    def recipe_book(self, columns: Columns, _facts: Facts) -> None:
        """Add a recipe book that it has learned; the book's number is that of its item."""
        item_id = number(columns, "recipebook_id")
        if not item_id:
            raise ValueError("it has no book")
        self.books[item_id] = None

    def color(self, columns: Columns, _facts: Facts) -> None:
        name = visible(columns, "type", LONGEST_NAME)
        parts = [number(columns, part, least=-128, most=U8) for part in ("red", "green", "blue")]
        # EQ2Emulator keeps the body size as a row among the colors.
        if name == BODY_SIZE:
            self.appearance[BODY_SIZE] = parts[0]
            return
        red, green, blue = parts
        signed = number(columns, "signed_value") != 0
        self.colors[_REQUEST_NAMES.get(name, name)] = Color(red, green, blue, signed)

    def detail(self, columns: Columns, _facts: Facts) -> None:
        self.details = {
            "coins": copper(columns, "coin_"),
            "status_points": number(columns, "status_points"),
            "experience": number(columns, "xp"),
            "experience_needed": number(columns, "xp_needed"),
            "last_name": text(columns, "last_name").strip(),
        }
        self.prefix = number(columns, "prefix_title", -1, least=-1)
        self.suffix = number(columns, "suffix_title", -1, least=-1)
        self.bank = copper(columns, "bank_")
        self.past.add_details(columns)

    def skill(self, columns: Columns, _facts: Facts) -> None:
        skill = KnownSkill(
            number(columns, "skill_id", least=1),
            number(columns, "current_val", most=U16),
            number(columns, "max_val", most=U16),
        )
        self.skills[skill.id] = skill

    def language(self, columns: Columns, _facts: Facts) -> None:
        language = number(columns, "language_id", most=U8)
        if language:  # every character has the common language, without a row
            self.languages.add(language)

    def title(self, columns: Columns, facts: Facts) -> None:
        # None first: if the title is unknown, it keeps its place, because `prefix` and `suffix`
        # count places.
        self.titles.append(None)
        self.titles[-1] = facts.title(number(columns, "title_id"))

    def quest(self, columns: Columns, _facts: Facts) -> None:
        self.quests.add_quest(columns)

    def progress(self, columns: Columns, _facts: Facts) -> None:
        self.quests.add_progress(columns)

    def standing(self, columns: Columns, _facts: Facts) -> None:
        self.past.add_standing(columns)

    def event(self, columns: Columns, _facts: Facts) -> None:
        self.past.add_event(columns)

    def spell(self, columns: Columns, _facts: Facts) -> None:
        self.past.add_spell(columns)

    def macro(self, columns: Columns, _facts: Facts) -> None:
        self.hotbars.add_macro(columns)

    def collection(self, columns: Columns, facts: Facts) -> None:
        self.collections.add_collection(columns, facts.world.pieces_of)

    def piece(self, columns: Columns, facts: Facts) -> None:
        self.collections.add_piece(columns, facts.world.pieces_of)

    def house(self, columns: Columns, facts: Facts) -> None:
        self.houses.add(columns, facts.world.has_home)

    def member(self, columns: Columns, facts: Facts) -> None:
        guild = number(columns, "guild_id")
        if facts.fact(GUILDS, guild) is None:
            raise ValueError(
                f"guild {guild} is unknown; dump the tables guilds and guild_ranks too"
            )
        self.guild, self.membership = guild, read_member(columns)

    def letter(self, columns: Columns, _facts: Facts) -> None:
        self.letters.add(columns)

    def relation(self, columns: Columns, _facts: Facts) -> None:
        kind = text(columns, "type")
        if kind not in RELATIONS:
            raise ValueError(f"{kind[:40]!r} is neither FRIEND nor IGNORE")
        self.relations.append((RELATIONS[kind], visible(columns, "name", LONGEST_NAME)))

    def hotkey(self, columns: Columns, facts: Facts) -> None:
        self.hotbars.add_hotkey(columns, facts.world.spell_icon)


_TAKES: Final[Mapping[str, Callable[[_Collected, Columns, Facts], None]]] = {
    "char_colors": _Collected.color,
    "character_buyback": _Collected.buy_back,
    "character_collection_items": _Collected.piece,
    "character_collections": _Collected.collection,
    "character_details": _Collected.detail,
    "character_factions": _Collected.standing,
    "character_houses": _Collected.house,
    "character_items": _Collected.item,
    "character_languages": _Collected.language,
    "character_lua_history": _Collected.event,
    "character_macros": _Collected.macro,
    "character_quest_progress": _Collected.progress,
    "character_quests": _Collected.quest,
    "character_recipe_books": _Collected.recipe_book,
    "character_skillbar": _Collected.hotkey,
    "character_skills": _Collected.skill,
    "character_social": _Collected.relation,
    "character_spells": _Collected.spell,
    "character_titles": _Collected.title,
    GUILD_MEMBERS: _Collected.member,
    LETTERS: _Collected.letter,
}
# A table in only one of the two lists would be read and then dropped without a sign.
assert set(_TAKES) == set(BELONGINGS)  # noqa: S101
