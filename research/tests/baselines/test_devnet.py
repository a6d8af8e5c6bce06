"""DevNet lifts labeled anomalies above its margin and holds other rows at zero."""

import numpy as np

from mismatch import mismatch_data
from spadework_research.baselines.devnet import MARGIN, DevNet


def test_labeled_anomalies_score_about_the_margin_and_other_rows_about_zero():
    X, y, truth = mismatch_data(400, seed=0, missed=0.0)
    scores = DevNet(random_state=0).fit(X, y).anomaly_score(X)
    assert scores[y == 1].mean() > 0.9 * MARGIN
    assert abs(np.median(scores[truth == 0])) < 0.1 * MARGIN
