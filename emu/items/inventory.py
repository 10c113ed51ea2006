"""`Inventory`: all things of one character, and the acts that move them.

Each act changes everything that belongs to it, or returns a `Refusal` and changes nothing. What
has changed since `take_changes` is what has to be stored. The numbers of new things come from a
function, so that equal acts have equal results.

Source: docs/protocol/world/items.md#places, docs/protocol/world/items.md#acts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from emu.items.held import (
    BANK_PLACES,
    BASE_PLACES,
    SHARED_PLACES,
    Place,
    Thing,
    Where,
)
from emu.items.kinds import Bag, Container, Flag, ItemKind, MoreFlag
from emu.items.refusals import Refusal, Why

BASE, OVERFLOW, BANK, SHARED = 0, -2, -3, -4
"""How clients number the lists; a bag has the number of its thing."""
FIRST_FREE: Final = -1
"""The slot of a move that takes the first free place."""
PLACES: Final[Mapping[int, tuple[Where, int]]] = {
    BASE: (Where.BAGS, BASE_PLACES),
    BANK: (Where.BANK, BANK_PLACES),
    SHARED: (Where.SHARED, SHARED_PLACES),
}
CARRIED: Final = frozenset((Where.BAGS, Where.WORN, Where.APPEARANCE))
BANKED: Final = frozenset((Where.BANK, Where.SHARED))
NewNumber = Callable[[], int]
"""Returns the number of a new thing."""


class Inventory:
    """The things of one character by number, and the places where they lie."""

    __slots__ = (
        "_at", "_bags", "_changed", "_kinds", "_lists", "_things", "_weight", "automatic",
        "lessons", "locked",
    )  # fmt: skip

    def __init__(self, things: Iterable[Thing], kinds: Mapping[int, ItemKind]) -> None:
        """`kinds` has the kind of each thing. A thing at a taken or wrong place waits."""
        self._things: dict[int, Thing] = {}
        self._kinds: dict[int, ItemKind] = dict(kinds)
        self._at: dict[Place, int] = {}
        self._changed: dict[int, Thing | None] = {}
        self._lists: set[Where] = set()
        self._weight = 0
        self._bags: set[int] = set()
        self.locked: set[int] = set()
        """The numbers of things that are in use: crafted with, or offered."""
        self.automatic: set[int] = set()
        """The slots of food and drink that is used as soon as the one before has no effect more."""
        self.lessons: frozenset[int] = frozenset()
        """The kinds of scrolls that clients are shown as ones that can be learned."""
        # Bags before what lies in them.
        for thing in sorted(things, key=lambda one: (one.place.bag != 0, one.id)):
            self._load(thing)

    def _load(self, thing: Thing) -> None:
        if thing.place in self._at or not self._exists(thing.place):
            self._wait(thing)
            return
        self._things[thing.id] = thing
        self._at[thing.place] = thing.id
        self._weight += self._weight_of(thing)

    # -- reading --------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Thing]:
        return iter(self._things.values())

    def __len__(self) -> int:
        return len(self._things)

    def get(self, number: int) -> Thing | None:
        """Return a thing by its number."""
        return self._things.get(number)

    def kind(self, thing: Thing) -> ItemKind:
        """Return the kind of a thing of this inventory."""
        return self._kinds[thing.item_id]

    def at(self, place: Place) -> Thing | None:
        """Return what lies at a place."""
        number = self._at.get(place)
        return None if number is None else self._things[number]

    def worn(self, slot: int, where: Where = Where.WORN) -> Thing | None:
        """Return what is worn in a slot."""
        return self.at(Place(where, 0, slot))

    def inside(self, bag: Thing) -> list[Thing]:
        """Return what lies in a bag, by place."""
        kind = self._kinds.get(bag.item_id)
        if kind is None or kind.bag is None:
            return []
        found = (one for one in self if one.place.bag == bag.id)
        return sorted(found, key=lambda one: one.place.slot)

    def in_list(self, where: Where) -> list[Thing]:
        """Return what lies in a list, by place: first the list's own places, then those of bags."""
        found = (one for one in self if one.place.where is where)
        return sorted(found, key=lambda one: one.place)

    def waiting(self) -> list[Thing]:
        """Return what waits for a free place, the first one first."""
        return self.in_list(Where.OVERFLOW)

    def of_kind(self, item_id: int, where: Iterable[Where] = tuple(Where)) -> list[Thing]:
        """Return the things of a kind in some lists, by place."""
        lists = frozenset(where)
        found = (one for one in self if one.item_id == item_id and one.place.where in lists)
        return sorted(found, key=lambda one: one.place)

    def count_of(self, item_id: int, where: Iterable[Where] = tuple(Where)) -> int:
        """Return how many things of a kind lie in some lists, with the counts of stacks."""
        return sum(one.count for one in self.of_kind(item_id, where))

    @property
    def weight(self) -> int:
        """The weight of what is carried and worn, in tenths."""
        return self._weight

    def _weight_of(self, thing: Thing) -> int:
        if thing.place.where not in CARRIED:
            return 0
        kind = self.kind(thing)
        return kind.weight * thing.count if kind.stack > 1 else kind.weight

    def take_changes(self) -> Mapping[int, Thing | None]:
        """Return what has changed since the last call by number; None for what is gone."""
        changed, self._changed = self._changed, {}
        return changed

    def changed_lists(self) -> frozenset[Where]:
        """Return the lists that have changed since the last call."""
        changed, self._lists = frozenset(self._lists), set()
        return changed

    def take_touched_bags(self) -> list[int]:
        """Return the bags that are new, or whose content has changed, since the last call."""
        bags, self._bags = sorted(self._bags), set()
        return bags

    def _touch(self, thing: Thing) -> None:
        self._lists.add(thing.place.where)
        if thing.place.bag:
            self._bags.add(thing.place.bag)

    @property
    def has_changed(self) -> bool:
        """Whether something has changed since `take_changes`."""
        return bool(self._changed)

    def where(self, inventory: int) -> Where | None:
        """Return the list in which the places of a client's number are."""
        if inventory in PLACES:
            return PLACES[inventory][0]
        bag = self.get(inventory)
        return None if bag is None else bag.place.where

    # -- places ---------------------------------------------------------------------------------

    def place(self, inventory: int, slot: int) -> Place | None:
        """Return a place by a client's numbers; None if there is none, or its bag is in use."""
        if inventory in PLACES:
            where, most = PLACES[inventory]
            return Place(where, 0, slot) if 0 <= slot < most else None
        bag = self.get(inventory)
        if bag is None or bag.place.bag or bag.place.where not in (Where.BAGS, *BANKED):
            return None
        # What is put into a bag that is offered or attached would leave with it.
        if bag.id in self.locked:
            return None
        place = Place(bag.place.where, bag.id, slot)
        return place if self._exists(place) else None

    def _exists(self, place: Place) -> bool:
        where, number, slot = place
        if where in (Where.WORN, Where.APPEARANCE):
            return not number and 0 <= slot < 31
        if where in (Where.OVERFLOW, Where.HELD):
            return not number and slot >= 0
        if not number:
            most = next(most for one, most in PLACES.values() if one is where)
            return 0 <= slot < most
        bag = self._things.get(number)
        if bag is None or bag.place.where is not where or bag.place.bag:
            return False
        part = self.kind(bag).bag
        return part is not None and 0 <= slot < part.places

    def _free(self, where: Where, bag: int, most: int) -> Place | None:
        places = (Place(where, bag, slot) for slot in range(most))
        return next((one for one in places if one not in self._at), None)

    def free_place(self, kind: ItemKind) -> Place | None:
        """Return where a new thing goes: into a bag, else to a base place; bags to base places."""
        if kind.bag is None:
            for slot in range(BASE_PLACES):
                found = self._free_in(self.at(Place(Where.BAGS, 0, slot)))
                if found is not None:
                    return found
        return self._free(Where.BAGS, 0, BASE_PLACES)

    def _free_in(self, bag: Thing | None) -> Place | None:
        part = self.kind(bag).bag if bag is not None else None
        if bag is None or part is None or bag.id in self.locked:
            return None
        return self._free(bag.place.where, bag.id, part.places)

    def free_places(self) -> int:
        """Return how many places are free for what is no bag."""
        free = sum(Place(Where.BAGS, 0, slot) not in self._at for slot in range(BASE_PLACES))
        for slot in range(BASE_PLACES):
            bag = self.at(Place(Where.BAGS, 0, slot))
            part = self.kind(bag).bag if bag is not None else None
            if bag is not None and part is not None and bag.id not in self.locked:
                free += part.places - len(self.inside(bag))
        return free

    def free_bank(self) -> Place | None:
        """Return the first free place of the bank."""
        return self._free(Where.BANK, 0, BANK_PLACES)

    # -- changing -------------------------------------------------------------------------------

    def _put(self, thing: Thing) -> None:
        """Let a thing have this record; its place is free."""
        before = self._things.get(thing.id)
        if before is not None:
            self._touch(before)
            self._weight -= self._weight_of(before)
            if self._at.get(before.place) == thing.id:
                del self._at[before.place]
        elif isinstance(self.kind(thing).part, Bag | Container):
            self._bags.add(thing.id)
        self._touch(thing)
        self._weight += self._weight_of(thing)
        self._things[thing.id] = thing
        self._at[thing.place] = thing.id
        self._changed[thing.id] = thing
        if before is not None and before.place.where is not thing.place.where:
            # What lies in a bag goes with it.
            for one in [one for one in self if one.place.bag == thing.id]:
                self._put(replace(one, place=one.place._replace(where=thing.place.where)))

    def _drop(self, thing: Thing) -> None:
        self._touch(thing)
        self._weight -= self._weight_of(self._things[thing.id])
        del self._things[thing.id]
        self._at.pop(thing.place, None)
        self._changed[thing.id] = None
        self.locked.discard(thing.id)

    def _wait(self, thing: Thing) -> None:
        last = max((one.place.slot for one in self.waiting()), default=-1)
        self._put(thing.at(Where.OVERFLOW, last + 1))

    def set(self, thing: Thing, **changes: Any) -> Thing:
        """Change values of a thing other than its place, and return it as it is then."""
        fresh = replace(thing, **changes)
        self._put(fresh)
        return fresh

    # -- getting and losing ---------------------------------------------------------------------

    def refuses(self, kind: ItemKind, count: int = 1) -> Refusal | None:
        """Return why a character may not get so many things of a kind; places do not matter."""
        held = self.of_kind(kind.id)
        if kind.is_lore and (held or (count > 1 and not kind.most_charges)):
            return Refusal(Why.LORE, kind)
        if Flag.STACK_LORE in kind.flags and (len(held) > 1 or self._overflows(kind, held, count)):
            return Refusal(Why.STACK_LORE, kind)
        return None

    def _overflows(self, kind: ItemKind, held: list[Thing], count: int) -> bool:
        return bool(held) and held[0].count + count > kind.stack

    def has_space(self, wanted: Iterable[tuple[ItemKind, int]]) -> bool:
        """Return whether all of some new things find places at once, none in the overflow."""
        trial = self.copy()
        numbers = iter(range(-1, -100_000, -1))
        for kind, count in wanted:
            trial.add_things(kind, count, lambda: next(numbers))
        return len(trial.waiting()) == len(self.waiting())

    def copy(self) -> Inventory:
        """Return an inventory with the same things, for a trial."""
        made = Inventory((), self._kinds)
        made._things = dict(self._things)  # its own
        made._at = dict(self._at)
        made._changed = dict(self._changed)
        made._weight = self._weight
        made.locked = set(self.locked)
        return made

    def restore(self, before: Inventory) -> None:
        """Return to what a copy has, as if nothing had happened since it was made."""
        self._things, self._at = dict(before._things), dict(before._at)
        self._changed, self.locked = dict(before._changed), set(before.locked)
        self._weight = before._weight

    def add_things(
        self, kind: ItemKind, count: int, new: NewNumber, like: Thing | None = None
    ) -> list[Thing]:
        """Give new things to the character; return each that is new or has grown.

        They go onto a carried stack where the whole amount fits, else to new places, as much as one
        stack at each, and into the overflow if no place is free. `like` has the other values of
        the new things. Ask `refuses` before.
        """
        self._kinds[kind.id] = kind
        if kind.is_stackable:
            for one in self.of_kind(kind.id, (Where.BAGS,)):
                if self._joins(one, like) and one.count + count <= kind.stack:
                    limit = one.most_price if like is None else _least(one, like)
                    return [self.set(one, count=one.count + count, most_price=limit)]
        # All numbers first: without them nothing is given.
        parts = [(part, new()) for part in portions(kind, count)]
        return [self._add_one(kind, part, number, like) for part, number in parts]

    def _joins(self, one: Thing, like: Thing | None) -> bool:
        is_plain = like is None or (like.is_attuned, like.condition) == (
            one.is_attuned, one.condition,
        )  # fmt: skip
        return is_plain and one.id not in self.locked

    def _add_one(self, kind: ItemKind, count: int, number: int, like: Thing | None) -> Thing:
        place = self.free_place(kind)
        nowhere = Place(Where.OVERFLOW, 0, 0)
        model = like or Thing(number, kind.id, nowhere)
        thing = replace(model, id=number, item_id=kind.id, count=count, place=place or nowhere)
        if place is None:
            self._wait(thing)
        else:
            self._put(thing)
        return self._things[number]

    def has_bank_space(self, kind: ItemKind, count: int) -> bool:
        """Return whether so many new things of a kind find places in the bank."""
        free = sum(Place(Where.BANK, 0, slot) not in self._at for slot in range(BANK_PLACES))
        return len(portions(kind, count)) <= free

    def add_to_bank(self, kind: ItemKind, count: int, new: NewNumber) -> list[Thing]:
        """Put new things into the bank, all or none; return them."""
        if not self.has_bank_space(kind, count):
            return []
        self._kinds[kind.id] = kind
        parts = [(part, new()) for part in portions(kind, count)]
        made = []
        for part, number in parts:
            place = self.free_bank()
            assert place is not None  # noqa: S101  # there is space
            made.append(Thing(number, kind.id, place, part))
            self._put(made[-1])
        return made

    def add_worn(
        self, kind: ItemKind, count: int, slot: int, new: NewNumber, like: Thing | None = None
    ) -> Thing | None:
        """Let the character wear a new thing; return None if the slot is taken."""
        if self.worn(slot) is not None:
            return None
        self._kinds[kind.id] = kind
        number, place = new(), Place(Where.WORN, 0, slot)
        model = like or Thing(number, kind.id, place)
        self._put(replace(model, id=number, item_id=kind.id, count=count, place=place))
        return self._things[number]

    def accept(self, thing: Thing, kind: ItemKind) -> Thing:
        """Take a thing of another owner, with all its values, to the first free place."""
        self._kinds[kind.id] = kind
        place = self.free_place(kind)
        if place is None:
            self._wait(thing)
        else:
            self._put(thing.moved(place))
        return self._things[thing.id]

    def use_up(self, thing: Thing, count: int = 1) -> Thing | None:
        """Take some of a stack, or some charges; return what is left."""
        if count < thing.count:
            return self.set(thing, count=thing.count - count)
        for one in self.inside(thing):
            self._drop(one)
        self._drop(thing)
        return None

    def take_things(self, item_id: int, count: int, where: Iterable[Where] = (Where.BAGS,)) -> bool:
        """Take things of a kind from several places; return False if there are too few."""
        found = [one for one in self.of_kind(item_id, where) if one.id not in self.locked]
        if sum(one.count for one in found) < count or count <= 0:
            return False
        for one in found:
            part = min(count, one.count)
            if part:
                self.use_up(one, part)
                count -= part
        return True

    # -- acts of players ------------------------------------------------------------------------

    def destroy(self, number: int) -> Refusal | None:
        """Destroy a thing, a bag with all that lies in it."""
        thing = self.get(number)
        if thing is None or thing.place.where in (Where.OVERFLOW, Where.HELD):
            return Refusal(Why.SILENT)
        everything = [thing, *self.inside(thing)]
        for one in everything:
            if Flag.NO_DESTROY in self.kind(one).flags:
                return Refusal(Why.NO_DESTROY, self.kind(one))
        if any(one.id in self.locked for one in everything):
            return Refusal(Why.DESTROY_IN_USE, self.kind(thing))
        for one in reversed(everything):
            self._drop(one)
        return None

    def move(  # noqa: PLR0911  # one return for each refusal
        self, number: int, slot: int, inventory: int, count: int, new: NewNumber, *, has_bank: bool
    ) -> Refusal | None:
        """Move a thing, or `count` of a stack, to a place that a client names.

        `has_bank` is whether the bank is open. A count of 0 moves the whole thing.
        """
        thing = self.get(number)
        if thing is None or thing.place.where in (Where.WORN, Where.APPEARANCE, Where.OVERFLOW):
            return Refusal(Why.NO_THING)
        if thing.id in self.locked or any(one.id in self.locked for one in self.inside(thing)):
            return Refusal(Why.IN_USE, self.kind(thing))
        if thing.place.where in BANKED and not has_bank:
            return Refusal(Why.NO_SUCH_PLACE)
        if slot == FIRST_FREE:
            return self._move_anywhere(thing, inventory, has_bank=has_bank)
        target = self.place(inventory, slot)
        if target is None or (target.where in BANKED and not has_bank):
            return Refusal(Why.NO_SUCH_PLACE)
        if not 0 <= count <= thing.count:
            return Refusal(Why.NO_SUCH_PLACE)
        if target == thing.place:
            return None
        return self._move_to(thing, target, count, new)

    def _move_anywhere(self, thing: Thing, inventory: int, *, has_bank: bool) -> Refusal | None:
        if inventory == BANK and has_bank:
            place, refusal = self.free_bank(), Why.NO_FREE_BANK
        elif inventory == BASE:
            place = self._free(Where.BAGS, 0, BASE_PLACES) or self.free_place(self.kind(thing))
            refusal = Why.NO_FREE_PLACE
        else:
            return Refusal(Why.NO_SUCH_PLACE)
        if place is None:
            return Refusal(refusal)
        if not self.may_lie(thing, place):
            return Refusal(Why.NO_SUCH_PLACE)
        self._put(thing.moved(place))
        return None

    def _move_to(  # noqa: PLR0911
        self, thing: Thing, target: Place, count: int, new: NewNumber
    ) -> Refusal | None:
        kind, other = self.kind(thing), self.at(target)
        if other is not None and other.id in self.locked:
            return Refusal(Why.NO_SUCH_PLACE)
        if other is not None and not count and self.kind(other).bag is not None:
            inner = self._free_in(other)
            if inner is None:
                return Refusal(Why.NO_SUCH_PLACE)
            return self._move_to(thing, inner, 0, new)
        if not self.may_lie(thing, target):
            return Refusal(Why.NO_SUCH_PLACE)
        if target.where is Where.SHARED and not self.may_share(thing):
            return Refusal(Why.NOT_SHARED)
        if other is None:
            if count and count < thing.count:
                return self._split(thing, target, count, new)
            self._put(thing.moved(target))
            return None
        if count and other.item_id == thing.item_id and kind.is_stackable:
            return self._join(thing, other, count)
        if count and count < thing.count:
            return Refusal(Why.NO_SUCH_PLACE)
        return self._exchange(thing, other)

    def _split(self, thing: Thing, target: Place, count: int, new: NewNumber) -> Refusal | None:
        if not self.kind(thing).is_stackable:
            return Refusal(Why.NO_SUCH_PLACE)
        number = new()  # first what can fail
        self.set(thing, count=thing.count - count)
        self._put(replace(thing, id=number, count=count, place=target))
        return None

    def _join(self, thing: Thing, other: Thing, count: int) -> Refusal | None:
        moved = min(count, self.kind(other).stack - other.count)
        if moved <= 0 or not self._joins(other, thing):
            return Refusal(Why.NO_SUCH_PLACE)
        self.set(other, count=other.count + moved, most_price=_least(other, thing))
        self.use_up(thing, moved)
        return None

    def _exchange(self, thing: Thing, other: Thing) -> Refusal | None:
        if not self.may_lie(other, thing.place):
            return Refusal(Why.NO_SUCH_PLACE)
        if any(one.id in self.locked for one in self.inside(other)):
            return Refusal(Why.NO_SUCH_PLACE)
        if thing.place.where is Where.SHARED and not self.may_share(other):
            return Refusal(Why.NOT_SHARED)
        self.exchange(thing, other)
        return None

    def exchange(self, thing: Thing, other: Thing) -> None:
        """Let two things change places, without asking whether they may."""
        mine, theirs = thing.place, other.place
        # Out of the way first: two things never have one place.
        del self._at[mine], self._at[theirs]
        self._put(thing.moved(theirs))
        self._put(other.moved(mine))

    def move_to(self, thing: Thing, place: Place) -> None:
        """Move a thing to a free place, without asking whether it may."""
        self._put(thing.moved(place))

    def may_lie(self, thing: Thing, place: Place) -> bool:
        """Return whether a thing may lie at a place: bags never lie in bags."""
        return not place.bag or self.kind(thing).bag is None

    def may_share(self, thing: Thing) -> bool:
        """Return whether a thing and all in it may lie in a shared bank."""
        return all(may_share(one, self.kind(one)) for one in (thing, *self.inside(thing)))

    def pop(  # noqa: PLR0911
        self, slot: int, inventory: int, *, has_bank: bool
    ) -> Refusal | None:
        """Move the first waiting thing to a place that a client names."""
        waiting = self.waiting()
        if not waiting:
            return Refusal(Why.SILENT)
        thing = waiting[0]
        if slot == FIRST_FREE:
            place = self.free_place(self.kind(thing)) if inventory == BASE else None
            if place is None:
                return Refusal(Why.NO_FREE_PLACE)
        else:
            found = self.place(inventory, slot)
            if found is None or (found.where in BANKED and not has_bank):
                return Refusal(Why.NO_SUCH_PLACE)
            place = found
        if place in self._at:
            return Refusal(Why.OCCUPIED)
        if not self.may_lie(thing, place):
            return Refusal(Why.NO_SUCH_PLACE)
        if place.where is Where.SHARED and not self.may_share(thing):
            return Refusal(Why.NOT_SHARED)
        self._put(thing.moved(place))
        return None


def may_share(thing: Thing, kind: ItemKind) -> bool:
    """Return whether a thing may change its character."""
    return not (
        thing.is_attuned or Flag.NO_TRADE in kind.flags or MoreFlag.HEIRLOOM in kind.more_flags
    )


def portions(kind: ItemKind, count: int) -> list[int]:
    """Return how many of new things lie at each place: a stack, or one with its charges."""
    most = kind.stack if kind.is_stackable else max(1, kind.most_charges)
    whole, rest = divmod(max(0, count), most)
    return [most] * whole + [rest] * (rest > 0)


def _least(one: Thing, two: Thing) -> int:
    """Return what merchants give at most for a thing of two joined stacks.

    Nobody earns by joining what was bought cheaply with a stack without a limit.
    """
    return min(filter(None, (one.most_price, two.most_price)), default=0)
