"""Detectors of many kinds, and the answers of their graphs, for tests of exports."""

from functools import cache

import numpy as np
import onnxruntime

from mismatch import N_FEATURES, in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner

X, Y, TRUTH = mismatch_data(160, seed=0)
FRESH = mismatch_data(150, seed=1)[0]
FAR = np.vstack([FRESH[:40] * 1e6, FRESH[:40] * -1e6, np.zeros((1, N_FEATURES))])
ROWS = np.vstack([X, FRESH, FAR])


def forest(**parameters):
    """A small forest in which every reading counts, the one-class scores too."""
    learner = ForestLearner(n_trees=8, max_depth=5, judge=False)
    return SPADE(**{"learner": learner, "random_state": 0, **parameters})


def network(*, judge=True, **parameters):
    learner = NetworkLearner(
        n_networks=2, max_epochs=2, warmup_epochs=1, batch_size=64, judge=judge
    )
    return SPADE(**{"learner": learner, "random_state": 0, **parameters})


STATED = {"label_map": {1: 1, 0: 0}}
KINDS = {
    "PNU": lambda: forest().fit(X, Y),
    "PU": lambda: forest().fit(X, in_setting(Y, "PU")),
    "NU": lambda: forest().fit(X, in_setting(Y, "NU")),
    "PN": lambda: forest(**STATED).fit(X, TRUTH),
    "minmax": lambda: forest(scaling="minmax").fit(X, Y),
    "isolation_forest": lambda: forest(one_class="isolation_forest", n_members=2).fit(
        X, Y
    ),
    "isolation_forest_minmax": lambda: forest(
        one_class="isolation_forest", scaling="minmax", n_members=2
    ).fit(X, in_setting(Y, "NU")),
    "neighbours": lambda: forest(one_class="neighbours").fit(X, Y),
    "beside_neighbours": lambda: forest(
        learner=ForestLearner(n_trees=3, neighbours=True)
    ).fit(X, Y),
    "svm": lambda: forest(one_class="svm", n_members=2).fit(X, Y),
    "one_reading": lambda: forest(
        learner=ForestLearner(n_trees=3, readings=["as_normal"])
    ).fit(X, Y),
    "judged": lambda: SPADE(random_state=0).fit(X, Y),
    "judged_NU": lambda: SPADE(random_state=0).fit(X, in_setting(Y, "NU")),
    "network_PNU": lambda: network().fit(X, Y),
    "network_NU": lambda: network().fit(X, in_setting(Y, "NU")),
    "network_PN": lambda: network(**STATED).fit(X, TRUTH),
    "network_alone": lambda: network(judge=False).fit(X, Y),
    "network_minmax": lambda: network(judge=False, scaling="minmax").fit(X, Y),
    "paper": lambda: SPADE.paper(learner__max_epochs=2, random_state=0).fit(X, Y),
}


@cache
def model(kind="PNU"):
    """A fitted detector of a kind; never to be changed."""
    return KINDS[kind]()


def run(path, rows):
    """Answers of an exported graph by name."""
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    rows = np.asarray(rows, dtype=np.float32)
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


def assert_same(answers, detector, rows):
    score, native = answers["score"], detector.anomaly_score(rows)
    np.testing.assert_array_less(
        np.abs(score - native), 1e-5 * np.maximum(1, np.abs(native))
    )
    belief = detector.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(answers["probability"], belief, atol=1e-5)
    clear = np.abs(native - detector.threshold_) > 1e-5
    calls = detector.predict(rows)
    np.testing.assert_array_equal(answers["anomaly"][clear], calls[clear])
