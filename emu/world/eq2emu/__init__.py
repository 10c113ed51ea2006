"""Taking over zones and what stands in them from dumps of EQ2Emulator's world database.

`tables` keeps the rows, `composing` makes zones of them in the vocabulary of `emu.world.places`,
`writing` puts those into files, `dump` runs it all. `knowledge` does the same for skills, languages
and titles.
"""

from emu.world.eq2emu.dump import import_world
from emu.world.eq2emu.knowledge import import_knowledge
from emu.world.eq2emu.tables import TABLES

__all__ = ["TABLES", "import_knowledge", "import_world"]
