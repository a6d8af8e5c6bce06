"""The made payments are as the guide says, and replace no file."""

import pandas as pd

from commands import ended
from spadework import fit_table
from spadework.cli.payments import write_payments


def test_a_made_table_is_not_written_over(made):
    before = (made / "old.csv").read_bytes()
    done = ended("demo", "--table", "old.csv", cwd=made, code=1)
    assert "left as it is" in done.stderr
    assert (made / "old.csv").read_bytes() == before


def test_of_made_payments_both_kinds_of_fraud_are_called_as_the_guide_says(tmp_path):
    """Nobody labeled the second, and merchants, of which many are rare, hide a part."""
    path = tmp_path / "payments.csv"
    write_payments(path, seed=0)
    table = pd.read_csv(path, parse_dates=["time"])
    hour = table["time"].dt.hour
    second = (table["channel"] == "atm") & (hour == 3) & (table["age_of_card"] < 150)
    first = (table["channel"] == "web") & (table["amount"] > 200)
    options = {"label": "status", "label_map": {"fraud": 1, "ok": 0}, "keys": ["id"]}
    called = {}
    for left_out in ((), ("merchant",)):
        model = fit_table(path, ignore=left_out, **options)
        called[left_out] = model.score(path).column("anomaly").to_numpy() == 1
    with_merchants, without = (found[second].mean() for found in called.values())
    assert 0.5 < with_merchants < 0.85 < without
    assert all(found[first].mean() > 0.9 for found in called.values())
