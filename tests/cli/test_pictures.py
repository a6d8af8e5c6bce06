"""The command fits, scores and reports on folders of pictures, and refuses the rest."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from commands import ended
from fitted_payments import fitted, payments
from pictures import made_pictures, partly_labeled, write_pictures
from spadework import load
from spadework.cli.app import app
from spadework.errors import SpadeworkError

SMALL = ("--size", "64")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with parts/, new_parts/ and a model that the command fitted."""
    folder = tmp_path_factory.mktemp("pictures")
    pixels, truth, _ = made_pictures(40, 10, seed=0)
    write_pictures(folder / "parts", pixels, partly_labeled(truth))
    pixels, truth, _ = made_pictures(20, 6, seed=1)
    write_pictures(folder / "new_parts", pixels, truth)
    done = ended("fit", "parts/", "-o", "model/", "--json", *SMALL, cwd=folder)
    (folder / "fit.json").write_text(done.stdout)
    (folder / "fit.txt").write_text(done.stderr)
    return folder


@pytest.fixture
def command(place, monkeypatch, capsys):
    """Run the command in this process; return what it printed."""
    monkeypatch.chdir(place)

    def run(*arguments):
        app([str(each) for each in arguments], standalone_mode=False)
        return capsys.readouterr()

    return run


@pytest.fixture
def refused(place, monkeypatch):
    """Run the command in this process; return the words it refuses with."""
    monkeypatch.chdir(place)

    def run(*arguments):
        with pytest.raises(SpadeworkError) as error:
            app([str(each) for each in arguments], standalone_mode=False)
        return str(error.value)

    return run


def read_scores(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# What works


def test_fit_says_what_it_learns_from_and_what_it_came_to(place):
    facts = json.loads((place / "fit.json").read_text())
    assert facts["census"] == {"n_anomalies": 6, "n_normals": 15, "n_unlabeled": 19}
    assert facts["setting"] == "PNU"
    assert facts["defects"] == {"square": 6}
    assert (facts["pictures"], facts["left_out"], facts["size"]) == (40, 0, 64)
    said = (place / "fit.txt").read_text()
    for words in ("40 in parts", "6 anomalies", "square 6", "learner: pretrained"):
        assert words in said


def test_scores_are_those_of_the_library_in_the_order_of_names(place, command, tmp_path):
    said = command("score", "model", "new_parts", "-o", tmp_path / "scores.csv")
    assert "20 pictures scored" in said.err
    found = read_scores(tmp_path / "scores.csv")
    names = [each["file"] for each in found]
    assert list(found[0]) == ["file", "anomaly_score", "anomalous"]
    assert names == sorted(names)
    detector = load(place / "model" / "model.spade")
    scores = detector.anomaly_score([place / "new_parts" / name for name in names])
    np.testing.assert_array_equal(
        [float(each["anomaly_score"]) for each in found], scores
    )
    called = [int(each["anomalous"]) for each in found]
    np.testing.assert_array_equal(called, scores > detector.threshold_)
    defective = [name.startswith("defect/") for name in names]
    assert min(scores[defective]) > max(scores[np.logical_not(defective)])


def test_only_the_top_is_written_with_its_heat_maps(command, tmp_path):
    out = tmp_path / "top.csv"
    heat = tmp_path / "heat"
    command("score", "model", "new_parts", "-o", out, "--top", 3, "--heat-maps", heat)
    found = read_scores(out)
    scores = [float(each["anomaly_score"]) for each in found]
    assert scores == sorted(scores, reverse=True)
    drawn = {path.relative_to(heat).as_posix() for path in heat.rglob("*.png")}
    assert drawn == {each["file"] for each in found}
    assert len(drawn) == 3
    with Image.open(heat / found[0]["file"]) as picture:
        assert picture.size == (64, 64)


def test_only_anomalies_are_written_from_files_and_globs(command, tmp_path):
    out, heat = tmp_path / "few.tsv", tmp_path / "heat"
    sources = ("new_parts/good/*.png", *sorted(Path("new_parts/defect/square").iterdir()))
    command(
        *("score", "model", *sources, "-o", out, "--only-anomalies"),
        *("--heat-maps", heat, "--json"),
    )
    lines = out.read_text().splitlines()
    assert all(line.endswith("\t1") for line in lines[1:])
    assert {line.split("\t")[0] for line in lines[1:]} == {
        path.relative_to(heat).as_posix() for path in heat.rglob("*.png")
    }


def test_pictures_are_called_by_another_threshold_if_one_is_given(command, tmp_path):
    out = tmp_path / "all.csv"
    command("score", "model", "new_parts", "-o", out, "--threshold", -1e9)
    assert all(each["anomalous"] == "1" for each in read_scores(out))


def test_labels_may_come_from_a_table(place, command, tmp_path):
    rows = ["file,label"]
    for path in sorted((place / "parts").rglob("*.png")):
        state = {"good": "ok", "square": "bad", "unlabeled": ""}[path.parent.name]
        rows.append(f"{path.relative_to(place / 'parts').as_posix()},{state}")
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    out = tmp_path / "model"
    said = command(
        *("fit", "parts", "--labels", tmp_path / "labels.csv", "--map", "bad=1,ok=0"),
        *("-o", out, "--quiet", *SMALL, "--seed", 1, "--threshold", 0.5),
    )
    assert said.out == ""
    detector = load(out / "model.spade")
    assert tuple(detector.census_) == (6, 15, 19)
    assert (detector.threshold_, detector.random_state) == (0.5, 1)


def test_a_folder_of_good_and_defect_alone_is_learnt_from(command, tmp_path):
    said = command("fit", "new_parts", "-o", tmp_path / "model", "--json", *SMALL)
    assert json.loads(said.out)["setting"] == "PN"


@pytest.mark.parametrize(("options", "verbose"), [((), True), (("--quiet",), False)])
def test_the_report_shows_progress_unless_quiet(command, monkeypatch, options, verbose):
    seen = []
    monkeypatch.setattr(
        "spadework.report.pictures.write_picture_page",
        lambda detector, *_: seen.append(detector.verbose),
    )
    command("report", "model", "new_parts", "-o", "not_written.html", *options)
    assert seen == [verbose]


@pytest.mark.parametrize(("name", "out"), [("report", "a.html"), ("export", "a.onnx")])
def test_quiet_commands_log_nothing(command, caplog, tmp_path, name, out):
    with caplog.at_level("INFO", logger="spadework"):
        said = command(name, "model", "new_parts", "-o", tmp_path / out, "--quiet")
    assert (tmp_path / out).is_file()
    assert caplog.messages == []
    assert said == ("", "")


def test_the_exported_graph_scores_as_the_command_does(command, tmp_path):
    import onnxruntime

    said = command("export", "model", "new_parts", "-o", tmp_path / "model.onnx")
    assert "scores of 20 pictures differ by at most" in said.out
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    (pixels,) = session.get_inputs()
    assert (pixels.name, pixels.type) == ("pixels", "tensor(uint8)")
    assert pixels.shape == ["batch", 64, 64, 3]


# Pictures that cannot be read


@pytest.fixture
def with_corrupt(tmp_path):
    """A folder of three pictures, of which the second is cut off, and a model's place."""
    pixels, _, _ = made_pictures(3, 0, seed=5)
    write_pictures(tmp_path / "parts", pixels, np.zeros(3, dtype=int))
    broken = tmp_path / "parts" / "good" / "001.png"
    broken.write_bytes(broken.read_bytes()[:200])
    return tmp_path / "parts"


def test_corrupt_pictures_are_named_and_refused(refused, with_corrupt, tmp_path):
    out = tmp_path / "scores.csv"
    said = refused("score", "model", with_corrupt, "-o", out)
    assert "001.png" in said
    assert "--skip-corrupt" in said
    assert not out.exists()
    said = refused("fit", with_corrupt, "-o", tmp_path / "model", *SMALL)
    assert "001.png" in said


def test_corrupt_pictures_keep_their_line_when_skipped(command, with_corrupt, tmp_path):
    out = tmp_path / "scores.csv"
    said = command("score", "model", with_corrupt, "-o", out, "--skip-corrupt")
    assert "1 could not be read" in said.err
    found = read_scores(out)
    assert [each["anomaly_score"] == "" for each in found] == [False, True, False]
    assert found[1]["anomalous"] == ""


# What is refused


def test_nothing_is_overwritten_unless_forced(command, refused, tmp_path):
    out, heat = tmp_path / "scores.csv", tmp_path / "heat"
    out.write_text("mine")
    assert "--force" in refused("score", "model", "new_parts", "-o", out)
    assert out.read_text() == "mine"
    heat.mkdir()
    (heat / "mine.png").touch()
    said = refused("score", "model", "new_parts", "--top", 1, "--heat-maps", heat)
    assert "--force" in said
    page = tmp_path / "report.html"
    page.write_text("mine")
    assert "--force" in refused("report", "model", "new_parts", "-o", page)
    assert page.read_text() == "mine"
    assert "--force" in refused("fit", "parts", "-o", "model")
    command("score", "model", "new_parts", "-o", out, "--force")
    assert len(read_scores(out)) == 20


@pytest.fixture(scope="module")
def table_model(tmp_path_factory):
    """A table and the folder of a model of it."""
    import pyarrow.csv as pa_csv

    from spadework import save

    folder = tmp_path_factory.mktemp("table")
    pa_csv.write_csv(payments(), folder / "payments.csv")
    (folder / "model").mkdir()
    save(fitted(), folder / "model" / "model.spade")
    return folder


def test_a_folder_is_refused_where_a_table_is_expected(refused, table_model):
    model = table_model / "model"
    for verb in ("score", "report", "explain", "compare"):
        said = refused(verb, model, "new_parts")
        assert "was fitted on a table and new_parts is a folder" in said
    table = table_model / "payments.csv"
    said = refused("score", model, table, "--heat-maps", "heat")
    assert "--heat-maps has no meaning for a model of a table" in said


def test_a_table_is_refused_where_pictures_are_expected(refused, table_model):
    table = table_model / "payments.csv"
    for verb in ("score", "report"):
        said = refused(verb, "model", table)
        assert "was fitted on pictures" in said
        assert "payments.csv is none" in said
    for verb in ("explain", "compare"):
        assert "this command is for tables" in refused(verb, "model", table)
    assert "a table needs --label" in refused("fit", table, "-o", "other")
    said = refused("fit", table_model, "-o", "other")
    assert "no picture in" in said
    assert "a table is given by its files" in said


def test_options_of_tables_are_refused_for_folders(refused):
    for option in ("--label", "--key", "--unlabeled", "--query"):
        said = refused("fit", "parts", "-o", "other", option, "x")
        assert f"{option} has no meaning for a folder of pictures" in said
    said = refused("fit", "parts", "-o", "other", "--learner", "forest", *SMALL)
    assert "learner must be 'pretrained', 'paper'" in said
    assert "size must be" in refused("fit", "parts", "-o", "other", "--size", 3)
    said = refused("fit", "parts", "-o", "other", "--map", "bad=1")
    assert "--map" in said
    assert "label_map" not in said
    assert "no file matches" in refused("score", "model", "new_parts/*.gif")
    assert "top must be" in refused("score", "model", "new_parts", "--top", 0)
