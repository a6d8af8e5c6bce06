"""A made table of payments and a model of it, for tests of the report."""

import numpy as np
import pyarrow as pa

from spadework import SPADE, ForestLearner
from spadework.table_fitting import fit_table


def made_table(n, seed, *, labeled=0.2, kind=("web", "shop")):
    rng = np.random.default_rng(seed)
    amount = rng.normal(size=n)
    status = np.where(amount > 1.8, "fraud", "ok")
    status[rng.random(n) > labeled] = ""
    return pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "amount": amount,
            "kind": rng.choice(kind, n),
            "status": status,
        }
    )


def fit(table):
    return fit_table(
        table,
        label="status",
        label_map={"fraud": 1, "ok": 0, "": -1},
        keys=["id"],
        detector=SPADE(learner=ForestLearner(n_trees=20), random_state=0),
    )
