"""Made-up Lua scripts of an EQ2Emulator world, in the folders of one.

As a program, it stands in for rsync: ``python -m tests.support.files.eq2emu_scripts [OPTIONS]
SOURCE FOLDER`` writes them into the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPTS = {
    "SpawnScripts/Antonica/guard.lua": """
function spawn(NPC)
end

function respawn(NPC)
    spawn(NPC)
end

function hailed(NPC, Spawn)
    FaceTarget(NPC, Spawn)
    Say(NPC, "Well met, " .. GetName(Spawn) .. ".", Spawn)
end
""",
    "ZoneScripts/antonica.lua": """
function init_zone_script(Zone)
end
""",
}


def main(words: list[str]) -> None:
    """Write the scripts into the folder that the last word names."""
    for name, source in SCRIPTS.items():
        path = Path(words[-1]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
