"""Compare what stands in zones of a content file with its rows, over many runs: by chi-square.

    python -m tools.content_shares content.sqlite 253 325 --runs 400

Each run opens the zone anew with another seed. The share of each entry among those of its placement
must be that of its weight, and the share of each group among those that exclude each other that of
its chance. A location of which an entry never stood, or stood without a weight, is listed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random

from emu.content.file import ContentFile, ZoneContent
from emu.content.population import Population, Surroundings
from emu.times import Monotonic

LEAST_EXPECTED = 5.0
"""A class of a chi-square test must be expected as often; rarer ones are put together."""


def limit(freedom: int) -> float:
    """Return what chi-square exceeds about once in 10,000 (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 3.72 * part**0.5) ** 3)


def chi_square(drawn: dict[int, int], weights: dict[int, float]) -> tuple[float, int]:
    """Return chi-square and the degrees of freedom of counts against weights."""
    total, weight = sum(drawn.values()), sum(weights.values())
    expected = {one: total * share / weight for one, share in weights.items()}
    common = [one for one, many in expected.items() if many >= LEAST_EXPECTED]
    rare = [one for one, many in expected.items() if 0 < many < LEAST_EXPECTED]
    pairs = [(drawn.get(one, 0), expected[one]) for one in common]
    if rare and (many := sum(expected[one] for one in rare)) >= LEAST_EXPECTED:
        pairs.append((sum(drawn.get(one, 0) for one in rare), many))
    found = sum((count - many) ** 2 / many for count, many in pairs)
    return found, max(0, len(pairs) - 1)


class Shares:
    """What stood in the runs of one zone."""

    def __init__(self, content: ZoneContent, runs: int) -> None:
        self.content = content
        self.entries: dict[int, Counter[int]] = {}
        """By location: how often each entry stood."""
        self.groups: dict[int, Counter[int]] = {}
        """By set: how often each group stood."""
        self.standing: list[int] = []
        sets = {group.id: group.set_id for group in content.groups}
        for seed in range(runs):
            population = Population(content, Random(seed), Surroundings())
            standing = population.open(Monotonic(0.0))
            self.standing.append(len(standing))
            for one in standing:
                counts = self.entries.setdefault(one.entry.location_id, Counter())
                counts[one.entry.id] += 1
            for group in {one.group for one in standing if one.group}:
                self.groups.setdefault(sets[group], Counter())[group] += 1

    def entry_faults(self) -> tuple[int, list[str]]:
        """Return how many locations with a choice were tested, and a line for each fault."""
        tested, faults = 0, []
        for location, counts in self.entries.items():
            entries = self.content.entries[location]
            weights = {entry.id: entry.weight for entry in entries}
            # By day some entries may not stand; their locations are not tested.
            if len(weights) < 2 or any(entry.condition for entry in entries):
                continue
            tested += 1
            if any(counts[one] for one, weight in weights.items() if weight <= 0):
                faults.append(f"location {location}: an entry of weight 0 stood")
            found, freedom = chi_square(counts, weights)
            if freedom and found > limit(freedom):
                faults.append(f"location {location}: {dict(counts)} of weights {weights}")
        return tested, faults

    def group_faults(self) -> tuple[int, list[str]]:
        """Return how many sets of groups were tested, and a line for each fault."""
        weights: dict[int, dict[int, float]] = {}
        places = {one.id: one.location_id for one in self.content.placements}
        full = self.content.entries
        for group in self.content.groups:
            weights.setdefault(group.set_id, {})[group.id] = group.weight
        # A group of which nothing can stand is chosen without a trace.
        empty = {
            group.set_id
            for group in self.content.groups
            if not any(
                entry.weight > 0 and not entry.condition
                for place in group.placements
                for entry in full.get(places.get(place, 0), ())
            )
        }
        tested, faults = 0, []
        for number, counts in self.groups.items():
            if len(weights[number]) < 2 or number in empty:
                continue
            tested += 1
            found, freedom = chi_square(counts, weights[number])
            if freedom and found > limit(freedom):
                faults.append(f"set {number}: {dict(counts)} of weights {weights[number]}")
        return tested, faults


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each zone; return 1 if shares differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("content", type=Path)
    parser.add_argument("zones", type=int, nargs="+")
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args(arguments)
    problems = 0
    with ContentFile(options.content) as file:
        for number in options.zones:
            content = file.zone_content(number)
            if content is None:
                print(f"zone {number}: is not in the file")
                problems += 1
                continue
            shares = Shares(content, options.runs)
            entries, wrong = shares.entry_faults()
            groups, others = shares.group_faults()
            stand = shares.standing
            print(
                f"{content.zone['name']}: {len(content.placements)} placements,"
                f" {min(stand)} to {max(stand)} stand; {entries} choices and {groups} sets"
                f" of groups tested, {len(wrong)} and {len(others)} differ"
            )
            for line in (*wrong, *others):
                print(f"  {line}")
            # Once in 10,000 tests, chance alone exceeds the limit.
            problems += len(wrong) + len(others) > 1 + (entries + groups) / 1000
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
