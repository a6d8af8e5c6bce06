"""A made table of payments and a model of it, for tests of the report."""

from functools import cache

import numpy as np
import pyarrow as pa

from spadework import SPADE, TreeLearner
from spadework.report.content import make_content
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


def fit(table, **options):
    """Fit a small model of payments; options are those of its learner."""
    learner = TreeLearner(**{"n_trees": 20, **options})
    return fit_table(
        table,
        label="status",
        label_map={"fraud": 1, "ok": 0, "": -1},
        keys=["id"],
        detector=SPADE(learner=learner, random_state=0),
    )


@cache
def shared_table():
    """Payments, a fifth of them labeled."""
    return made_table(800, 0)


@cache
def shared_model():
    """A model of them; never to be changed."""
    return fit(shared_table())


@cache
def shared_content():
    """The report on them, and on other payments whose labels were held out."""
    return make_content(shared_model(), shared_table(), held_out_table())


@cache
def held_out_table():
    """Other payments, all of them labeled."""
    return made_table(400, 1, labeled=1.0)
