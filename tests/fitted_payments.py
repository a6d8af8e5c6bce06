"""A made table of payments, and a model of it."""

import datetime as dt
from functools import cache

import numpy as np
import pyarrow as pa

from spadework import SPADE, TreeLearner
from spadework.table_fitting import fit_table

MAP = {"fraud": 1, "ok": 0}


def payments(n=240, seed=0):
    """Payments of which some have a large amount from a far place; few have a status."""
    rng = np.random.default_rng(seed)
    amount = rng.normal(50, 10, n)
    place = rng.choice(["here", "there"], n).astype(object)
    rate = rng.normal(size=n)
    is_fraud = rng.permutation(n) < n // 10
    amount[is_fraud] += 300
    place[is_fraud] = "far"
    status = np.full(n, None, dtype=object)
    status[np.flatnonzero(is_fraud)[::2]] = "fraud"
    status[np.flatnonzero(~is_fraud)[::5]] = "ok"
    start = dt.datetime(2024, 1, 1)
    rate = [None if i % 7 == 0 else float(each) for i, each in enumerate(rate)]
    return pa.table(
        {
            "id": [f"T{i:05}" for i in range(n)],
            "amount": amount,
            "place": place.tolist(),
            "rate": rate,
            "at": [start + dt.timedelta(hours=int(5 * i)) for i in rng.permutation(n)],
            "status": status.tolist(),
        }
    )


def small(**parameters):
    """A detector that is fitted at once."""
    options = {"learner": TreeLearner(n_trees=20), "random_state": 0}
    return SPADE(**(options | parameters))


@cache
def fitted():
    """A model of the payments; never to be changed."""
    return fit_table(
        payments(), label="status", label_map=MAP, keys=["id"], detector=small()
    )
