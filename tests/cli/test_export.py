"""The export command says how far scores differ."""

import json

from commands import ended


def test_an_export_says_how_far_scores_differ(made):
    done = ended("export", "model", "old.csv", "-o", "m.onnx", cwd=made)
    assert "differ by at most" in done.stdout
    assert (made / "m.onnx").stat().st_size > 1000


def test_an_export_is_not_replaced_by_itself_and_tells_machines(made):
    export = ("export", "model", "old.csv", "-o", "again.onnx")
    assert ended(*export, "--quiet", cwd=made).stdout == ""
    assert "left as it is" in ended(*export, cwd=made, code=1).stderr
    done = ended(*export, "--force", "--json", cwd=made)
    found = json.loads(done.stdout)
    assert found["n_rows"] == 1200
    assert found["difference"] < 1e-5
