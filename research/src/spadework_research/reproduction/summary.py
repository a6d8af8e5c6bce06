"""Sum up what was tried: one line a setting, and what each reading changes.

python -m spadework_research.reproduction.summary tries.jsonl --out FILE
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spadework_research.reproduction.distances import (
    Moved,
    Tried,
    collect,
    deviations,
    distance,
    main_effects,
    moved,
)
from spadework_research.reproduction.options import (
    ABLATIONS,
    READINGS,
    Setting,
    complete,
    name_of,
    one_factor,
    reduce,
)
from spadework_research.reproduction.study import ALL, CHEAP, is_ablated, read_lines
from spadework_research.reproduction.trials import Cell, PaperValue, paper_cells


def summarise(tried: Tried, paper: Mapping[Cell, PaperValue]) -> dict[str, Any]:
    """Return a setting with the mean and deviation of each cell, and its distances."""
    spreads = tried.spreads()
    return {
        "setting": reduce(tried.setting),
        "distance": {
            "thyroid and drug": round(distance(tried, paper, CHEAP), 4),
            "all": round(distance(tried, paper, ALL), 4)
            if "covertype" in tried.tables
            else None,
            "deviations": round(deviations(tried, paper), 2),
        },
        "cells": {
            "/".join(cell): [
                round(mean, 3),
                round(spreads[cell], 3),
                len(tried.aucs[cell]),
            ]
            for cell, mean in sorted(tried.means().items())
        },
    }


def changes(
    tried: Mapping[str, Tried], paper: Mapping[Cell, PaperValue], centre: Setting
) -> list[tuple[str, Any, Moved]]:
    """Return what one change of the centre adds to its distance, the best first.

    Both are compared on the cells and seeds that both were run on.
    """
    full = complete(centre)
    at_centre = tried[name_of(centre)]
    found = []
    for setting in one_factor(centre)[1:]:
        changed = complete(setting)
        option = next(name for name in full if changed[name] != full[name])
        if name_of(setting) in tried:
            far = moved(tried[name_of(setting)], at_centre, paper, CHEAP)
            found.append((option, changed[option], far))
    return sorted(found, key=lambda each: each[2].distance)


def ablation_changes(
    tried: Mapping[str, Tried], paper: Mapping[Cell, PaperValue], setting: Setting
) -> dict[str, dict[str, float]]:
    """Return by how much each ablation of a setting changes the AUC of each cell."""
    whole = tried[name_of(setting)].means()
    found: dict[str, dict[str, float]] = {}
    for name, change in ABLATIONS.items():
        ablated = tried.get(name_of(complete(setting) | change))
        if ablated is not None:
            found[name] = {
                "/".join(cell): round(mean - whole[cell], 3)
                for cell, mean in ablated.means().items()
                if cell in whole and cell in paper
            }
    return found


def main() -> None:
    """Write the table and print what matters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", type=Path, nargs="+")
    parser.add_argument("--centre", type=json.loads, default={})
    parser.add_argument("--out", type=Path)
    parser.add_argument("--top", type=int, default=12)
    asked = parser.parse_args()
    paper = paper_cells()
    everything = collect(read_lines(asked.lines))
    if asked.out:
        rows = [json.dumps(summarise(each, paper)) for each in everything.values()]
        asked.out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    tried = {n: t for n, t in everything.items() if not is_ablated(t.setting)}
    judged = {
        name: distance(each, paper, CHEAP)
        for name, each in tried.items()
        if {*CHEAP} <= each.tables
    }
    print(f"{len(tried)} settings, {len(judged)} on both small tables")
    for name in sorted(judged, key=lambda name: judged[name])[: asked.top]:
        whole = distance(tried[name], paper, ALL)
        there = f"{whole:.3f}" if "covertype" in tried[name].tables else "  -  "
        print(f"{judged[name]:.3f} {there} {json.dumps(reduce(tried[name].setting))}")
    print("\nOne change of the centre:")
    for option, reading, far in changes(tried, paper, asked.centre):
        print(f"{far.distance:+.3f} ± {far.error:.3f}  {option} = {reading}")
    effects = main_effects(judged, {n: tried[n].setting for n in judged})
    print("\nMean over settings with a reading, less that of all:")
    for option in READINGS:
        found = {
            r: effects[option, r] for r in READINGS[option] if (option, r) in effects
        }
        parts = [f"{r}: {mean:+.3f} ({count})" for r, (mean, count) in found.items()]
        print(f"{option}: " + ", ".join(parts))


if __name__ == "__main__":
    main()
