"""What tests of runs share: a made Xente, the only data there is."""

import numpy as np
import pytest

from made_payments import LATER, ROW, write
from spadework_research.runs import measurement


def made_payments(n_rows=240):
    """Payments in order of time, of which every eighth is a large fraud."""
    rng = np.random.default_rng(0)
    for hour, amount in enumerate(rng.integers(100, 5000, n_rows)):
        fraud = hour % 8 == 7
        value = str(amount * (20 if fraud else 1))
        when = f"2018-11-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z"
        yield (LATER if fraud else ROW) | {
            "Amount": value,
            "Value": value,
            "TransactionStartTime": when,
        }


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """Hold a made Xente, the one table whose original file has no known checksum."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "xente").mkdir()
    write(folder / "xente" / "training.csv", made_payments())
    return folder


@pytest.fixture
def made_data(data_folder, monkeypatch):
    """Make the made Xente the only data there is."""
    monkeypatch.setenv("SPADEWORK_DATA", str(data_folder))
    measurement._table.cache_clear()
    measurement._trial.cache_clear()
    yield data_folder
    measurement._table.cache_clear()
    measurement._trial.cache_clear()
