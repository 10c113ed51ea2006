"""Names of files and folders on the command line."""

from __future__ import annotations

from typing import Any

import click


class FilePath(click.Path):
    """A path like click's, but an empty text is refused.

    Python takes an empty path for the working directory, and an empty text is what a shell makes
    of a variable that is not set.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)
