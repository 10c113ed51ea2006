"""Plays sections of the recordings `items-*` with both of their players again.

The things, merchants and creatures are those of the set of things (items-set-A.sql). Each player
begins a section with what the recorded one had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from emu.ledger import Owner, OwnerKind, Part, Reason
from emu.model import WorldCharacter
from emu.world.actors.dealings import Dealing, MerchantKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from tests.support.coroutines import finish
from tests.support.world.fight_recordings import Mark, Message, Recording, Seen
from tests.support.world.fight_replay import HeardClient
from tests.support.world.item_recordings import recorded_content, recorded_kinds
from tests.support.world.real_replay import enter_heard
from tests.support.world.recorded_things import BAGS, give_shown
from tests.support.world.thing_lines import MERCHANT, ThingLines
from tests.support.world.trade_scenes import SHOP
from tests.support.world.worlds import WorldHarness

LAG: Final = 0.1
"""Seconds until the recorded server has read an act."""
DEALERS: Final = {
    "Quartermaster Odell": ("Buy from Merchant", "frommerchant", Dealing(910901, SHOP)),
    "Vaultkeeper Ryle": ("Bank", "bank", Dealing(910902)),
    "Mender Sallow": ("Repair", "repair", Dealing(910903, merchant_kind=MerchantKind.MENDER)),
}
"""Those of the set who deal: the text of their verb, what it calls, and what they deal in."""
FOES: Final = {"a straw brigand": 910904, "a straw captain": 910905}
"""The creatures of the set, each with its number."""
CHEST: Final = "Treasure Chest"
OWN_SPAWNS: Final = frozenset((*FOES, CHEST))
DEATHS: Final = frozenset(("OP_EqHearDeathCmd", "OP_EqSetDefaultVerbCmd", "OP_EqStateCmd"))
"""Messages about bodies and chests."""
LETTERS: Final = frozenset((
    "OP_MailGetHeadersReplyMsg", "OP_MailGetMessageReplyMsg", "OP_MailSendMessageReplyMsg",
    "OP_EqUpdatePlayerMailCmd", "OP_InspectPlayerMsg",
))  # fmt: skip
"""Messages about letters, and about what another player wears."""
MADE: Final = 2**31
"""So many copper are a fault of EQ2Emulator's bank."""
_SECTION: Final = re.compile(r"--- (\w+):")
_OWN: Final = frozenset((
    "OP_ExamineInfoRequestMsg", "OP_MailSendMessageMsg", "OP_LootItemsRequestMsg",
))  # fmt: skip
_SPAWN_FIRST: Final = frozenset(("OP_EntityVerbsRequestMsg", "OP_EntityVerbsVerbMsg"))
_BODIES: Final = frozenset(("OP_EqUpdateLootCmd", "OP_StoppedLootingMsg"))
_CAMP: Final = "OP_RequestCampMsg"
_THINGS: Final = frozenset(("sell_to_merchant", "buyback_from_merchant"))
"""Commands whose number has a thing in its upper half."""
_TYPED: Final = "OP_RemoteCmdMsg"
_EMPTYING: Final = ("inventory destroy", "inventory unequip")
ACTS: Final = frozenset(("OP_UpdateTargetMsg", _TYPED, *_OWN, *_SPAWN_FIRST))
"""What a player does."""
_LETTER_COMMANDS: Final = frozenset((
    "getmailmessage", "takemailattachments", "deletemailmessage",
))  # fmt: skip
_LONG: Final = 6
"""Numbers of more digits are those of things."""


class Section(NamedTuple):
    """What was recorded in a section to one player, and what ours did."""

    name: str
    letter: str
    recorded: list[str]
    ours: list[str]
    payments: tuple[list[int], list[int]]
    """By how much copper the purse has changed each time: recorded, and ours."""


class Actor:
    """One of the two players: what it was sent in the recording, and here."""

    def __init__(self, letter: str, version: int) -> None:
        self.letter = letter
        self.version = version
        self.recorded = ThingLines(version, has_index=False, more=DEATHS | LETTERS)
        self.ours = ThingLines(version, has_index=False, more=DEATHS | LETTERS)
        self.commands: list[str] = []
        """The names of the recorded commands, by their numbers."""
        self.numbers: dict[int, int] = {}
        """Our numbers of things by the recorded ones."""
        self.letters: dict[int, int] = {}
        """Our numbers of letters by the recorded ones."""
        self.row: WorldCharacter | None = None
        self.client: HeardClient | None = None
        self._boxes: tuple[list[int], list[int]] = ([], [])
        self.target = ""
        """The name of the recorded target."""

    @property
    def player(self) -> Player:
        """Our player."""
        assert self.client is not None
        assert self.client.player is not None
        return self.client.player

    def hear(self, one: Message, fields: Any) -> None:
        """Read a recorded message to the client."""
        if one.name == "OP_SetRemoteCmdsMsg" and one.fields:
            self.commands = [row["name"] for row in one.fields["commands_array"]]
        self._see_box(self._boxes[0], one.name, fields)
        if one.name in _BODIES and fields:
            # EQ2Emulator names a body by its own number of the spawn.
            fields = fields | {"spawn_id": self.target}
        if one.name in DEATHS and fields and not OWN_SPAWNS & {*map(str, fields.values())}:
            return  # somebody else's
        self.recorded.add(one.name, fields, one.body)

    def hear_ours(self, name: str, fields: Any, body: bytes) -> None:
        """Read one of our messages to the client."""
        self._see_box(self._boxes[1], name, fields)
        self.ours.add(name, fields, body)

    def _see_box(self, box: list[int], name: str, fields: Any) -> None:
        if name == "OP_MailGetHeadersReplyMsg" and fields:
            box[:] = [row["mail_id"] for row in fields["message_array"]]

    def begin_act(self) -> None:
        """Note which of our numbers stand for recorded ones."""
        self.recorded.begin_act()
        self.ours.begin_act()
        for number, rows in self.recorded.shown.items():
            for theirs, ours in zip(rows, self.ours.shown.get(number, []), strict=False):
                if theirs["unique_id"] and theirs["item_id"] == ours["item_id"]:
                    self.numbers[theirs["unique_id"]] = ours["unique_id"]
        self.letters.update(zip(*self._boxes, strict=False))

    def translated(self, line: str) -> str:
        """Return a typed line with our numbers."""
        name, *words = line.split()
        if words and name in _THINGS:
            number = int(words[0])
            words[0] = str(self.numbers.get(number >> 32, 0) << 32 | number & 0xFFFFFFFF)
        elif words and name in _LETTER_COMMANDS:
            words[0] = str(self.letters.get(int(words[0]), words[0]))
        else:
            words = [
                str(self.numbers.get(int(one), one)) if one.isdigit() and len(one) > _LONG else one
                for one in words
            ]
        return " ".join((name, *words))

    def with_our_numbers(self, body: bytes) -> bytes:
        """Return a request with our numbers of things."""
        for theirs, ours in self.numbers.items():
            body = body.replace(theirs.to_bytes(4, "little"), ours.to_bytes(4, "little"))
        return body


class PairReplay:
    """One recording, and the world in which its sections are played again."""

    def __init__(self, name: str, sections: frozenset[str]) -> None:
        """`sections` are the ones that are played."""
        self.recording = Recording(name)
        self._sections = sections
        harness = self.harness = WorldHarness()
        # The zone of the recordings, the Isle of Refuge, gives 5 % more for a kill.
        harness.world.rules = replace(harness.world.rules, experience_rate=1.05)
        harness.kinds = recorded_kinds()
        harness.parts.items.kinds = harness.kinds
        harness.trade.reload(recorded_content())
        self._stocked()
        self.actors: dict[str, Actor] = {}
        self._spawns: dict[str, Spawn] = {}
        self._start = 0.0
        self._section = ""
        self._begun = False

    def _stocked(self) -> None:
        """Let the merchant have what it had left: other recordings had bought of it before."""
        for _, fields in self.recording._commands(MERCHANT):
            shown = {row["item_id"]: row["quantity"] for row in fields["item_array"]}
            self.harness.trade._wares[SHOP] = tuple(
                ware if ware.quantity is None else ware._replace(quantity=shown[ware.item_id])
                for ware in self.harness.trade.wares(SHOP)
                if ware.quantity is None or ware.item_id in shown
            )
            return

    def play(self) -> Iterator[Section]:
        """Play the sections; yield each with the lines of each player."""
        for one in self.recording:
            if isinstance(one, Mark):
                found = _SECTION.match(one.text)
                if found or one.text == "end":
                    yield from self._close()
                    self._section = found[1] if found else ""
                    self._begun = False
                continue
            actor = self._actor(one.client)
            if one.name == "OP_LoginReplyMsg":
                actor.recorded.begin_session()
            if not one.to_server:
                seen = self.recording.sessions[one.client]
                actor.hear(one, seen.named(one.fields))
            elif self._section in self._sections and self._begins(actor, one):
                self._act(actor, one)

    def _actor(self, letter: str) -> Actor:
        if letter not in self.actors:
            version = self.recording.sessions[letter].version
            self.actors[letter] = Actor(letter, version)
        return self.actors[letter]

    # -- the players ------------------------------------------------------------------------------

    def _begin(self, at: float) -> None:
        for actor in self.actors.values():
            if actor.client is None:
                self._enter_first(actor)
            self._refill(actor)
        self.harness.run(1.0)
        self._start = at - self.harness.now
        for actor in self.actors.values():
            for lines in (actor.recorded, actor.ours):
                lines.lines.clear()
                lines.coins[:-1] = []
                lines.begin_act()

    def _begins(self, actor: Actor, one: Message) -> bool:
        """Whether the section has begun: first the recorded players destroy what they have."""
        if self._begun:
            return True
        if one.name not in ACTS:
            return False
        if one.name == _TYPED and one.fields:
            line = f"{actor.commands[one.fields['command_handler']]} {one.fields['arguments']}"
            if line.startswith(_EMPTYING):
                return False
        self._begin(one.at)
        self._begun = True
        return True

    def _close(self) -> Iterator[Section]:
        if not self._begun or self._section not in self._sections:
            return
        self.harness.run(2.0)
        for actor in self.actors.values():
            yield Section(
                self._section, actor.letter, [*actor.recorded.lines], [*actor.ours.lines],
                (actor.recorded.payments, actor.ours.payments),
            )  # fmt: skip

    def _enter_first(self, actor: Actor) -> None:
        number = 5 + len([one for one in self.actors.values() if one.row is not None])
        actor.row = self.harness.character(
            number, name=actor.recorded.own_name, admin_status=100 * int(actor.letter == "A"),
            class_=0, coins=0,
        )  # fmt: skip
        self._enter(actor)

    def _enter(self, actor: Actor) -> None:
        assert actor.row is not None
        actor.ours.begin_session()
        actor.client = enter_heard(
            self.harness, actor.row.id, actor.version, actor.hear_ours
        )  # fmt: skip
        actor.client.load()
        self.harness.run(2.0)

    def _refill(self, actor: Actor) -> None:
        """Let the player have what the recorded one has when a section begins."""
        player, items = actor.player, self.harness.parts.items
        inventory = player.holdings.inventory
        for thing in [one for one in inventory if not one.place.bag]:
            inventory.use_up(thing, thing.count)
        items.changed(player)
        made = give_shown(items, player, actor.recorded.shown, actor.version)
        # Commands name things by the places of their records.
        rows = actor.recorded.shown.get(BAGS, [])
        player.session.items.records = [made.get(row["unique_id"]) for row in rows]
        items.send_lists(player)
        coins = (actor.recorded.coins or [0])[-1]
        due = (coins if coins < MADE else 0) - player.character.coins
        nobody, owner = Owner(OwnerKind.NOTHING), Owner.character(player.id)
        part = Part(nobody, owner, due) if due > 0 else Part(owner, nobody, -due)
        if due:
            movement = self.harness.ledger.movement(
                Reason.COMMAND, [part], [player.character.account_id]
            )
            finish(self.harness.ledger.move(movement))

    # -- acts -------------------------------------------------------------------------------------

    def _act(self, actor: Actor, one: Message) -> None:
        due = one.at + LAG - self._start
        if due > self.harness.now:
            self.harness.run(due - self.harness.now)
        actor.begin_act()
        seen, client = self.recording.sessions[one.client], actor.client
        assert client is not None
        if one.name == "OP_UpdateTargetMsg" and one.fields:
            actor.target = seen.name_of(one.fields["spawn_index"])
            spawn = self._spawn(actor.target)
            actor.player.set_target(spawn)
        elif one.name == _TYPED and one.fields:
            line = f"{actor.commands[one.fields['command_handler']]} {one.fields['arguments']}"
            client.types("/" + self._line(actor, seen, line))
        elif one.name in _SPAWN_FIRST or one.name == "OP_LootItemsRequestMsg":
            self._name_spawn(actor, seen, one)
        elif one.name in _OWN:
            client.say(one.name, actor.with_our_numbers(one.body))
        elif one.name == _CAMP:
            client.say(_CAMP, one.body)
        elif one.name == "OP_LoginByNumRequestMsg":
            self._enter(actor)

    def _line(self, actor: Actor, seen: Seen, line: str) -> str:
        words = actor.translated(line).split()
        if words[0] == "start_trade":
            other = next(
                (one for one in self.actors.values()
                 if one.recorded.own_name == seen.name_of(int(words[1]))), None,
            )  # fmt: skip
            if other is not None:
                index = actor.player.index_of(other.player.spawn)
                words[1] = str(index)
        return " ".join(words)

    def _name_spawn(self, actor: Actor, seen: Seen, one: Message) -> None:
        if one.name == "OP_LootItemsRequestMsg":
            spawn = actor.player.target
        else:
            spawn = self._spawn(seen.name_of(int.from_bytes(one.body[:4], "little")))
        index = actor.player.index_of(spawn) if spawn is not None else None
        if index is not None:
            assert actor.client is not None
            actor.client.say(one.name, index.to_bytes(4, "little") + one.body[4:])

    def _spawn(self, name: str) -> Spawn | None:
        """Return somebody of the set, who is put beside the first player when it is needed."""
        for actor in self.actors.values():
            if name == actor.recorded.own_name:
                return actor.player.spawn
        player = self.actors["A"].player
        if name == CHEST:
            near = player.zone.near(player.position, 50.0)
            return next((one for one in near if one.name == CHEST), None)
        if name in self._spawns:
            return self._spawns[name]
        place = player.position._replace(x=player.position.x + 1.0)
        number = self.harness.zones.next_spawn_id()
        if name in DEALERS:
            text, command, dealing = DEALERS[name]
            verbs = (Verb(text, 10.0, command),)
            spawn = Spawn(number, SpawnKind.NPC, name, place, verbs=verbs, dealing=dealing)
        elif name in FOES:
            spawn = Spawn(
                number, SpawnKind.NPC, name, place, attackable=True, level=1,
                dealing=Dealing(FOES[name]),
            )  # fmt: skip
        else:
            return None
        player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(0.5)
        self._spawns[name] = spawn
        return spawn
