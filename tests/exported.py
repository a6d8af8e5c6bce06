"""Detectors of many kinds, and the answers of their graphs, for tests of exports."""

from functools import cache

import numpy as np
import onnxruntime

from mismatch import N_FEATURES, in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner, TreeLearner

X, Y, TRUTH = mismatch_data(160, seed=0)
FRESH = mismatch_data(150, seed=1)[0]
FAR = np.vstack([FRESH[:40] * 1e6, FRESH[:40] * -1e6, np.zeros((1, N_FEATURES))])
ROWS = np.vstack([X, FRESH, FAR])


def trees(**parameters):
    options = {"learner": TreeLearner(n_trees=8), "random_state": 0}
    return SPADE(**(options | parameters))


def network(**parameters):
    learner = NetworkLearner(n_networks=2, max_epochs=2, warmup_epochs=1, batch_size=64)
    return trees(learner=learner, **parameters)


STATED = {"label_map": {1: 1, 0: 0}}
KINDS = {
    "trees": lambda: trees().fit(X, Y),
    "labels_alone": lambda: trees(learner=TreeLearner(pseudo_labels=False)).fit(X, Y),
    "default_NU": lambda: SPADE(random_state=0).fit(X, in_setting(Y, "NU")),
    "network": lambda: network().fit(X, Y),
    "network_PN": lambda: network(**STATED).fit(X, TRUTH),
    "network_minmax": lambda: network(scaling="minmax").fit(X, Y),
    "forest": lambda: trees(learner=ForestLearner(n_trees=8)).fit(X, Y),
    "paper": lambda: SPADE.paper(learner__max_epochs=2, random_state=0).fit(X, Y),
}


@cache
def model(kind="trees"):
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
