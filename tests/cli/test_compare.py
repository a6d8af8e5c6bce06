"""The compare command says what changed, and can fail a pipeline."""

import json

from commands import ended


def test_compare_tells_machines_what_to_do(made):
    done = ended("compare", "model", "new.csv", "--json", cwd=made)
    found = json.loads(done.stdout)
    assert found["advice"] in ("keep", "refit", "relabel")
    assert {each["name"] for each in found["columns"]} >= {"amount", "channel"}


def test_drift_can_fail_a_pipeline(made):
    lines = (made / "new.csv").read_text().splitlines()
    web = [line for line in lines[1:] if ",web," in line]
    (made / "web.csv").write_text("\n".join([lines[0], *web]) + "\n")
    ended("compare", "model", "web.csv", "--fail-on-drift", cwd=made, code=3)


def test_a_column_lost_on_the_way_is_named_and_fails_a_pipeline(made):
    lines = (made / "new.csv").read_text().splitlines()
    place = lines[0].split(",").index("amount")
    cells = [line.split(",") for line in lines]
    for row in cells[1:]:
        row[place] = ""
    (made / "lost.csv").write_text("\n".join(map(",".join, cells)) + "\n")
    scored = ended("score", "model", "lost.csv", "-q", "-o", "lost-scores.csv", cwd=made)
    assert "column amount is missing in all" in scored.stderr
    done = ended("compare", "model", "lost.csv", "--fail-on-drift", cwd=made, code=3)
    assert done.stdout.startswith("column amount is missing in all")
    found = json.loads(ended("compare", "model", "lost.csv", "--json", cwd=made).stdout)
    assert [each["name"] for each in found["lost_columns"]] == ["amount"]
