"""Made data that tests share: a known kind of anomaly, and one nobody has labeled."""

import numpy as np

N_FEATURES = 8
SETTINGS = ("PNU", "PU", "NU")


def mismatch_data(n, seed, *, missed=0.5, rate=0.15, labeled=0.2):
    """Correlated normal rows and two kinds of anomalies, of which one has labels.

    Anomalies of the given kind lie high in the first three columns, those of the
    missed kind low in three others. Half of the given anomalies and a
    share ``labeled`` of the normals carry labels.

    Parameters
    ----------
    n : int
    seed : int
    missed : float
        Share of the anomalies that are of the missed kind; 0 makes data easy.
    rate : float
        Share of anomalies.
    labeled : float

    Returns
    -------
    X : ndarray of shape (n, 8), float64
    y : ndarray of shape (n,), 1, 0 and -1
    truth : ndarray of shape (n,), 1 and 0
    """
    rng = np.random.default_rng(seed)
    mixing = np.eye(N_FEATURES) + 0.3 * np.eye(N_FEATURES, k=1)
    X = rng.normal(size=(n, N_FEATURES)) @ mixing
    n_anomalies = round(rate * n)
    n_missed = round(missed * n_anomalies)
    truth = np.zeros(n, dtype=int)
    truth[:n_anomalies] = 1
    X[n_missed:n_anomalies, :3] += 5.0
    X[:n_missed, 4:7] -= 5.0
    y = np.full(n, -1)
    y[n_missed : n_missed + (n_anomalies - n_missed + 1) // 2] = 1
    y[n_anomalies : n_anomalies + round(labeled * (n - n_anomalies))] = 0
    order = rng.permutation(n)
    return X[order], y[order], truth[order]


def in_setting(y, setting):
    """Hide the labels that a setting does not have."""
    y = y.copy()
    if "P" not in setting:
        y[y == 1] = -1
    if "N" not in setting:
        y[y == 0] = -1
    return y
