"""Worked examples of the query protocols, from `tests/vectors`: what is asked and answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[2] / "vectors"


@dataclass(frozen=True)
class Example:
    """One conversation; `state` is what the server knows in it."""

    id: str
    what: str
    state: dict[str, Any]
    exchanges: list[tuple[bytes, list[bytes]]]
    """What the client sends, with the answers to it."""

    def __str__(self) -> str:
        return self.id


def read_examples(name: str) -> list[Example]:
    """Read a file of examples, ``ogp`` for instance."""
    lines = (VECTORS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_example(json.loads(line)) for line in lines]


def _example(row: dict[str, Any]) -> Example:
    exchanges: list[tuple[bytes, list[bytes]]] = []
    for step in row["steps"]:
        data = bytes.fromhex(step["hex"])
        if step["from"] == "client":
            exchanges.append((data, []))
        else:
            exchanges[-1][1].append(data)
    return Example(row["id"], row["what"], row["state"], exchanges)


class OneChallenge:
    """Gives everybody the number of an example, and takes no other."""

    def __init__(self, number: int) -> None:
        self.number = number

    def issue(self, _host: str, _port: int, _now: float) -> int:
        return self.number

    def accepts(self, number: int, _host: str, _port: int, _now: float) -> bool:
        return number == self.number
