"""Where the facts are uncertain: what this login service does, and why, in one place.

The rule is to follow EQ2Emulator's login server, because every client in use has been
living with it. What a client could tell the difference of is a setting in `Choices`.

* **World status, two layouts under one opcode** (docs/protocol/login.md#world-status). EQ2Emulator
  sends 7 bytes when a world comes or goes and 8 bytes for its lock, so do we. The 2006 client is
  said to read 8 (docs/protocol/login.md#client-546): `long_status_only` (`login.long_world_status`
  of the configuration) sends 8 bytes in every case.
* **Green and blue of equipment** (docs/protocol/characters.md#looks). EQ2Emulator's loader swaps
  them, for color and highlight alike, by what looks like an accident. We send them straight;
  `swap_equipment_green_blue` is EQ2Emulator's way.
* **Account number in the login reply** (docs/protocol/login.md#accepted). Never the real one: 1 in
  the first reply, 0 in the second. A real number could make an old client use a character list it
  has kept. Fixed.
* **Most characters** (docs/protocol/characters.md#list). The delete reply always says 10, the list
  of clients up to 561 always 7, newer ones are told the setting. Clients keep to it themselves. The
  server's own bound is `LoginServiceConfig.character_limit`, answered with create code 4.
* **Keymap** (docs/protocol/login.md#keymap, docs/protocol/login.md#client-546). The 2006 client
  asks with OP_KeymapLoadMsg and knows two answers; EQ2Emulator sends neither and clients go on.
  Ignored, as are OP_AllCharactersDescRequestMsg (the list was sent with the worlds) and
  OP_ReskinCharacterRequestMsg. OP_BadLanguageFilter is never sent.
* **Skull slider** `unknown9` (docs/protocol/characters.md#entry). Three numbers of the create
  request that are said to be a slider; EQ2Emulator codes them like a color, so do we.
* **26 bytes in a create request of version 546** (docs/protocol/characters.md#create,
  docs/protocol/login.md#client-546). EQ2Emulator expects them before the hair file, the real client
  is said not to send them. Whichever of the two fits the message to its last byte is taken; see
  `emu.login.characters.creation`.
* **Denial codes** (docs/protocol/login.md#reply-codes). Only 1 is ever sent, whatever the reason: a
  stranger learns nothing, and what newer codes do to old clients is not known.
* **Create request that no world can take**. EQ2Emulator answers nothing and, 15 s later, a play
  reply of code 8. A world that is not there is answered at once with create code 2 (no servers
  available); one that is there and never answers, after 15 s with EQ2Emulator's play code 8.
* **World goes while a play or create request waits for it**. Play code 0, create code 2, at once.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_REPLY_ACCOUNT = 1
SECOND_REPLY_ACCOUNT = 0
DELETE_REPLY_MAX_CHARACTERS = 10


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices above that an operator may turn round."""

    long_status_only: bool = False
    swap_equipment_green_blue: bool = False
