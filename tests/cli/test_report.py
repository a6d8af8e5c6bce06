"""The report command writes one page, and no other file."""

import json
import os

from commands import ended


def test_a_report_is_one_page_and_is_not_replaced_by_itself(made):
    ended("report", "model", "old.csv", "-o", "r.html", cwd=made)
    page = (made / "r.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert "left as it is" in (
        ended("report", "model", "old.csv", "-o", "r.html", cwd=made, code=1).stderr
    )


def test_a_pipe_is_not_replaced_by_a_file(made):
    os.mkfifo(made / "pipe.html")
    report = ("report", "model", "old.csv", "-o", "pipe.html", "--force")
    assert "not a file" in ended(*report, cwd=made, code=1).stderr
    assert (made / "pipe.html").is_fifo()


def test_held_out_labels_that_fit_did_not_know_are_refused_with_a_way_out(made):
    text = (made / "new.csv").read_text().replace("fraud", "scam")
    (made / "scam.csv").write_text(text)
    report = ("report", "model", "old.csv", "--held-out", "scam.csv", "-o", "scam.html")
    said = ended(*report, cwd=made, code=1).stderr
    assert "--map has no entry for 'scam'" in said
    assert "fit again with one that names the labels of held-out rows" in said
    assert not (made / "scam.html").exists()


def test_a_report_tells_machines_where_it_is(made):
    done = ended("report", "model", "old.csv", "-o", "j.html", "--json", cwd=made)
    assert json.loads(done.stdout) == {"out": "j.html"}
