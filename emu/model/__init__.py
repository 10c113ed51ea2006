"""The values that login, world, store and link share: plain, frozen, without behavior.

Times are `emu.times.Moment`, names `str`; what a row id of 0 means is said with each.
"""

from emu.model.accounts import Account
from emu.model.answers import CreateResponse, PlayResponse
from emu.model.belongings import Hotkey, Membership, Title
from emu.model.characters import Character, Color, Equipment, RosterEntry
from emu.model.logs import ClientLog
from emu.model.presence import Handoff, Present
from emu.model.reply_codes import CreateCode, DeleteCode, LoginCode, PlayCode
from emu.model.world_characters import Place, WorldCharacter
from emu.model.worlds import BUILT_IN_ACCOUNT, RegisteredWorld, WorldEntry, ZoneDescription

__all__ = [
    "BUILT_IN_ACCOUNT",
    "Account",
    "Character",
    "ClientLog",
    "Color",
    "CreateCode",
    "CreateResponse",
    "DeleteCode",
    "Equipment",
    "Handoff",
    "Hotkey",
    "LoginCode",
    "Membership",
    "Place",
    "PlayCode",
    "PlayResponse",
    "Present",
    "RegisteredWorld",
    "RosterEntry",
    "Title",
    "WorldCharacter",
    "WorldEntry",
    "ZoneDescription",
]
