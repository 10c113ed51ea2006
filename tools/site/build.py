"""Build the site from the pages that `tools.site.pages` has written; every warning is an error.

`python -m tools.site.build` writes it into build/site. `--check` leaves out the search's index,
which takes a third of the time and never warns.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from pathlib import Path
from typing import Final

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

SETTINGS: Final = Path(__file__).parent / "mkdocs.yml"
SEARCH: Final = "material/search"


def main() -> int:
    """Build the site of `docs/`; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="without the index of the search")
    checks = parser.parse_args().check
    gc.set_threshold(100_000, 50, 100)  # nearly all pages and their trees stay until the end
    # The option --quiet of the program would raise the level, and so hide warnings from --strict.
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    return build_site(SETTINGS, checks=checks)


def build_site(settings: Path, *, checks: bool) -> int:
    """Build the site of a settings file; return 1 if there was a warning.

    With `checks` the site has no index of the search.
    """
    config = load_config(str(settings), strict=True)
    if checks:
        config.plugins[SEARCH].config.enabled = False
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build(config)
    except Abort as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
