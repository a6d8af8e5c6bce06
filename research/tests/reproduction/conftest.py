"""What tests of the reproduction share: rows of two trials."""

import numpy as np
import pytest
import torch

from spadework.labels import ANOMALY, NORMAL, UNLABELED


@pytest.fixture
def rows():
    """Rows, labels and truth of two trials of 300 rows and 6 columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2, 300, 6))
    truth = np.zeros((2, 300), dtype=np.int8)
    truth[:, :40] = ANOMALY
    X[truth == ANOMALY] += 2.0
    labels = np.full_like(truth, UNLABELED)
    labels[:, :10], labels[:, 100:130] = ANOMALY, NORMAL
    return torch.from_numpy(X).float(), torch.from_numpy(labels), truth
