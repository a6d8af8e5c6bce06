from itertools import combinations

import numpy as np

from spadework_research.reproduction.choosing import choose, factorial
from spadework_research.reproduction.options import complete, name_of, one_factor

CENTRE = {"scaling": "clipped"}


def _distances():
    return {name_of(each): 0.1 + i / 1000 for i, each in enumerate(one_factor(CENTRE))}


def test_a_factorial_mixes_no_two_changes_with_a_third():
    settings = [complete(each) for each in factorial(CENTRE, _distances())]
    centre = complete(CENTRE)
    changed = {
        option for each in settings for option in each if each[option] != centre[option]
    }
    signs = {
        option: np.array(
            [1 if each[option] == centre[option] else -1 for each in settings]
        )
        for option in changed
    }
    assert len(settings) == 32
    assert len(signs) == 8
    assert all(sign.sum() == 0 for sign in signs.values())
    assert all((a * b).sum() == 0 for a, b in combinations(signs.values(), 2))
    assert all((a * b * c).sum() == 0 for a, b, c in combinations(signs.values(), 3))


def test_new_settings_go_on_from_the_nearest():
    judged = {
        name_of(each): (complete(each), distance)
        for scaling, distance in (("asinh", 0.1), ("clipped", 0.3))
        for each in one_factor({"scaling": scaling})[5:]
    }
    chosen = [complete(choose(judged, taken=judged.keys(), seed=i)) for i in range(20)]
    assert not judged.keys() & {name_of(each) for each in chosen}
    assert np.mean([each["scaling"] == "asinh" for each in chosen]) > 0.7
