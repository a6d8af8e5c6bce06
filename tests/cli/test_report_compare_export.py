"""The installed command reports, compares, exports and refits."""

import json
import os

import pytest

import commands

FIT = ["--label", "status", "--map", "fraud=1,ok=0", "--key", "id", "--quiet"]


def run(*arguments, cwd, code=0):
    done = commands.run(*arguments, cwd=cwd)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    run("demo", "--table", "old.csv", cwd=folder)
    run("demo", "--table", "new.csv", "--seed", "1", cwd=folder)
    run("fit", "old.csv", *FIT, "-o", "model", cwd=folder)
    return folder


def test_a_made_table_is_not_written_over(folder):
    before = (folder / "old.csv").read_bytes()
    done = run("demo", "--table", "old.csv", cwd=folder, code=1)
    assert "left as it is" in done.stderr
    assert (folder / "old.csv").read_bytes() == before


def test_a_report_is_one_page_and_is_not_replaced_by_itself(folder):
    run("report", "model", "old.csv", "-o", "r.html", cwd=folder)
    page = (folder / "r.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert "left as it is" in (
        run("report", "model", "old.csv", "-o", "r.html", cwd=folder, code=1).stderr
    )


@pytest.mark.parametrize("read", ["old.csv", "model/model.spade"])
def test_what_is_read_is_not_written_over_though_that_is_wanted(folder, read):
    before = (folder / read).read_bytes()
    for verb in ("report", "score"):
        done = run(verb, "model", "old.csv", "-o", read, "--force", cwd=folder, code=1)
        assert f"{read} is read, and left as it is" in done.stderr
    assert (folder / read).read_bytes() == before


def test_files_that_a_glob_or_another_option_names_are_read_too(folder):
    report = ("report", "model", "old.csv", "-o", "new.csv", "--force")
    score = ("score", "model", "n*.csv", "-o", "new.csv", "--force")
    for command in ((*report, "--held-out", "new.csv"), score):
        done = run(*command, cwd=folder, code=1)
        assert "new.csv is read, and left as it is" in done.stderr


def test_a_place_that_cannot_be_written_to_is_refused_before_anything_is_done(folder):
    report = ("report", "model", "old.csv", "-o")
    assert "no folder none" in run(*report, "none/r.html", cwd=folder, code=1).stderr
    fit = run("fit", "old.csv", *FIT, "-o", "new.csv/sub", cwd=folder, code=1).stderr
    assert "new.csv is a file" in fit


def test_a_pipe_is_not_replaced_by_a_file(folder):
    os.mkfifo(folder / "pipe.html")
    report = ("report", "model", "old.csv", "-o", "pipe.html", "--force")
    assert "not a file" in run(*report, cwd=folder, code=1).stderr
    assert (folder / "pipe.html").is_fifo()


def test_rows_without_their_keys_are_not_explained(folder):
    header, *lines = (folder / "old.csv").read_text().splitlines()
    assert header.startswith("id,")
    bare = [line.partition(",")[2] for line in (header, *lines[:20])]
    (folder / "bare.csv").write_text("\n".join(bare) + "\n")
    done = run("explain", "model", "bare.csv", "--row", "3", cwd=folder, code=1)
    assert "lacks the key columns id" in done.stderr


def test_rows_are_explained_by_their_keys(folder):
    by_number = run("explain", "model", "old.csv", "--row", "17", cwd=folder).stdout
    key = (folder / "old.csv").read_text().splitlines()[18].split(",")[0]
    explain = ("explain", "model", "old.csv", "--key-value")
    assert run(*explain, key, cwd=folder).stdout == by_number
    said = run(*explain, "nobody", cwd=folder, code=1).stderr
    assert "no row of 6,000 has id nobody" in said
    both = run(*explain, key, "--row", "17", cwd=folder, code=1).stderr
    assert "not both" in both


@pytest.mark.parametrize(
    ("verb", "out", "ending"),
    [("report", "r.pdf", ".html"), ("export", "m.bin", ".onnx")],
)
def test_a_file_is_not_given_the_name_of_another_kind(folder, verb, out, ending):
    said = run(verb, "model", "old.csv", "-o", out, cwd=folder, code=1).stderr
    assert f"{out} must end in {ending}" in said
    assert not (folder / out).exists()


def test_held_out_labels_that_fit_did_not_know_are_refused_with_a_way_out(folder):
    text = (folder / "new.csv").read_text().replace("fraud", "scam")
    (folder / "scam.csv").write_text(text)
    report = ("report", "model", "old.csv", "--held-out", "scam.csv", "-o", "scam.html")
    said = run(*report, cwd=folder, code=1).stderr
    assert "--map has no entry for 'scam'" in said
    assert "fit again with one that names the labels of held-out rows" in said
    assert not (folder / "scam.html").exists()


def test_compare_tells_machines_what_to_do(folder):
    done = run("compare", "model", "new.csv", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert found["advice"] in ("keep", "refit", "relabel")
    assert {each["name"] for each in found["columns"]} >= {"amount", "channel"}


def test_drift_can_fail_a_pipeline(folder):
    lines = (folder / "new.csv").read_text().splitlines()
    web = [line for line in lines[1:] if ",web," in line]
    (folder / "web.csv").write_text("\n".join([lines[0], *web]) + "\n")
    run("compare", "model", "web.csv", "--fail-on-drift", cwd=folder, code=3)


def test_a_column_lost_on_the_way_is_named_and_fails_a_pipeline(folder):
    lines = (folder / "new.csv").read_text().splitlines()
    place = lines[0].split(",").index("amount")
    cells = [line.split(",") for line in lines]
    for row in cells[1:]:
        row[place] = ""
    (folder / "lost.csv").write_text("\n".join(map(",".join, cells)) + "\n")
    scored = run("score", "model", "lost.csv", "-q", "-o", "lost-scores.csv", cwd=folder)
    assert "column amount is missing in all" in scored.stderr
    done = run("compare", "model", "lost.csv", "--fail-on-drift", cwd=folder, code=3)
    assert done.stdout.startswith("column amount is missing in all")
    found = json.loads(run("compare", "model", "lost.csv", "--json", cwd=folder).stdout)
    assert [each["name"] for each in found["lost_columns"]] == ["amount"]


def test_a_refit_takes_old_labels_and_new_rows(folder):
    done = run(
        *("fit", "old.csv", "--unlabeled", "new.csv", *FIT, "-o", "model-2", "--json"),
        cwd=folder,
    )
    facts = json.loads(done.stdout)
    alone = run("fit", "old.csv", *FIT, "-o", "model-3", "--json", cwd=folder)
    before = json.loads(alone.stdout)
    assert facts["rows"] == 2 * before["rows"]
    for kind in ("n_anomalies", "n_normals"):
        assert facts["census"][kind] == before["census"][kind]


def test_a_refit_takes_new_rows_with_words_once_they_are_said_to_mean_missing(folder):
    header, *lines = (folder / "new.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[:300]]
    for row in rows[:7]:
        row[2] = "pending"
    (folder / "words.csv").write_text("\n".join([header, *map(",".join, rows)]) + "\n")
    loud = [each for each in FIT if each != "--quiet"]
    fit = ("fit", "old.csv", "--unlabeled", "words.csv", *loud, "-o", "model-4")
    refused = run(*fit, cwd=folder, code=1).stderr
    assert "amount: 7 of its values are no number, such as 'pending' in row 6,000" in (
        refused
    )
    assert not (folder / "model-4").exists()
    done = run(*fit, "--missing", "pending", cwd=folder)
    assert "said to be missing: 7 values (amount 7)" in done.stderr
    for command in (
        ("explain", "model-4", "words.csv", "--row", "0"),
        ("compare", "model-4", "words.csv"),
        ("report", "model-4", "words.csv", "-o", "words.html"),
        ("export", "model-4", "words.csv", "-o", "words.onnx"),
    ):
        run(*command, cwd=folder)


def test_a_refit_with_rows_of_a_database_says_how_to_ask_for_them(folder):
    done = run(
        *("fit", "old.csv", "--unlabeled", "sqlite:///b.db", *FIT, "-o", "model-5"),
        cwd=folder,
        code=1,
    )
    assert "UNION ALL" in done.stderr


def test_an_export_says_how_far_scores_differ(folder):
    done = run("export", "model", "old.csv", "-o", "m.onnx", cwd=folder)
    assert "differ by at most" in done.stdout
    assert (folder / "m.onnx").stat().st_size > 1000


def test_an_export_is_not_replaced_by_itself_and_tells_machines(folder):
    export = ("export", "model", "old.csv", "-o", "again.onnx")
    assert run(*export, "--quiet", cwd=folder).stdout == ""
    assert "left as it is" in run(*export, cwd=folder, code=1).stderr
    done = run(*export, "--force", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert found["n_rows"] == 6000
    assert found["difference"] < 1e-5


def test_a_report_tells_machines_where_it_is(folder):
    done = run("report", "model", "old.csv", "-o", "j.html", "--json", cwd=folder)
    assert json.loads(done.stdout) == {"out": "j.html"}


def test_a_folder_without_a_model_is_told(folder):
    done = run("report", "nowhere", "old.csv", cwd=folder, code=1)
    assert "there is no model" in done.stderr


def test_unexpected_errors_are_one_paragraph_without_debug(folder):
    done = run(
        "fit", "old.csv", *FIT, "--learner", "nonsense", "-o", "x", cwd=folder, code=1
    )
    assert done.stderr.count("\n") <= 2
    assert "learner must be" in done.stderr
