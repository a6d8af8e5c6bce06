"""Choose further settings by those that were tried."""

from collections.abc import Mapping, Set
from itertools import product

import numpy as np

from spadework_research.reproduction.distances import main_effects
from spadework_research.reproduction.options import (
    READINGS,
    Setting,
    complete,
    name_of,
    one_factor,
    reduce,
)

PARENTS, KEENNESS = 8, 0.006
"""Near settings to go on from, and the difference in distance that counts."""


def choose(
    judged: Mapping[str, tuple[Setting, float]], *, taken: Set[str], seed: int
) -> Setting:
    """Change or cross near settings, towards readings that have come nearer so far.

    Parameters
    ----------
    judged : mapping
        Settings and their distances, by name.
    taken : set of str
        Names not to return.
    """
    rng = np.random.default_rng(seed)
    ranked = sorted(judged.values(), key=lambda each: each[1])
    parents = [setting for setting, _ in ranked[:PARENTS]]
    distances = {name: each[1] for name, each in judged.items()}
    worst = float(np.median(list(distances.values())))
    settings = {name: each[0] for name, each in judged.items()}
    effects = main_effects({n: min(d, worst) for n, d in distances.items()}, settings)
    while True:
        weight = 0.7 ** np.arange(len(parents))
        first, second = (
            parents[rng.choice(len(parents), p=weight / weight.sum())] for _ in range(2)
        )
        child = {k: (first if rng.random() < 0.6 else second)[k] for k in first}
        for _ in range(rng.integers(0, 3)):
            option, reading = _move(child, effects, rng)
            child[option] = reading
        if name_of(child) not in taken:
            return reduce(child)


def factorial(centre: Setting, distances: Mapping[str, float]) -> list[Setting]:
    """Cross the eight changes of the centre that came nearest.

    A fractional factorial of resolution IV in 32 settings: no effect of one change is
    mixed up with that of another, or of two others.

    Parameters
    ----------
    centre : dict
    distances : mapping
        By name, of all settings of `one_factor`.
    """
    full = complete(centre)
    nearest: dict[str, tuple[float, object]] = {}
    for setting in one_factor(centre)[1:]:
        changed = complete(setting)
        option = next(name for name in full if changed[name] != full[name])
        found = (distances[name_of(setting)], changed[option])
        nearest[option] = min(nearest.get(option, found), found, key=lambda each: each[0])
    moves = sorted(nearest, key=lambda option: nearest[option][0])[:8]
    settings = []
    for a, b, c, d, e in product((1, -1), repeat=5):
        signs = (a, b, c, d, e, a * b * c, a * b * d, b * c * d * e)
        changed = {
            option: nearest[option][1]
            for option, sign in zip(moves, signs, strict=True)
            if sign < 0
        }
        settings.append(reduce(full | changed))
    return settings


def _move(
    setting: Setting,
    effects: Mapping[tuple[str, object], tuple[float, int]],
    rng: np.random.Generator,
) -> tuple[str, object]:
    """Draw a reading to change to, the likelier the nearer its settings have come."""
    moves = [
        (option, reading)
        for option, readings in READINGS.items()
        for reading in readings
        if reading != setting[option]
    ]
    gain = np.array([-effects.get(move, (0.0, 0))[0] for move in moves])
    weight = np.exp(np.clip(gain / KEENNESS, -3, 3))
    return moves[rng.choice(len(moves), p=weight / weight.sum())]
