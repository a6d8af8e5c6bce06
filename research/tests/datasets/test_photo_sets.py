"""Photos come by name from their folders; what is absent or incomplete is named."""

import http.server
import threading
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from commands import run
from real_data import load_table
from spadework.errors import DataError, InputError
from spadework_research.datasets import photo_sets
from spadework_research.datasets.catalog import get_dataset
from spadework_research.datasets.photo_sets import (
    MAGNETIC_TILE_PHOTOS,
    MVTEC_CATEGORIES,
    LabeledImages,
    digest_photos,
)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    return tmp_path


def put(folder, *names):
    """Make empty files: photos are found, never opened."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()


def make_category(folder, category="bottle"):
    place = folder / "mvtec_ad" / category
    put(place / "train" / "good", "000.png", "001.png")
    put(place / "test" / "good", "000.png")
    put(place / "test" / "scratch", "000.png", "001.png", "002.png")
    put(place / "test" / "bent", "000.png")
    put(place / "test" / "hole", "000.png", "001.png")
    for name in ("scratch", "bent", "hole"):
        put(place / "ground_truth" / name, "000_mask.png")
    return place


def make_tiles(folder):
    place = folder / "magnetic_tile"
    for name, count in MAGNETIC_TILE_PHOTOS.items():
        photos = [f"exp1_num_{number}" for number in range(count)]
        put(place / f"MT_{name}" / "Imgs", *(f"{photo}.jpg" for photo in photos))
        put(place / f"MT_{name}" / "Imgs", *(f"{photo}.png" for photo in photos))
    return place


@pytest.fixture
def tiles(folder, monkeypatch):
    """Hold made photos of tiles, taken for the original ones."""
    place = make_tiles(folder)
    digest = digest_photos(place, list(place.rglob("*.jpg")))
    monkeypatch.setattr(photo_sets, "MAGNETIC_TILE_SHA256", digest)
    return place


@pytest.fixture
def archive(tiles, monkeypatch):
    """Serve the made photos in one file, and take them away from their folder."""
    served = tiles.with_name("served")
    served.mkdir()
    with zipfile.ZipFile(served / "master.zip", "w") as packed:
        packed.writestr("tiles-master/README.md", "about")
        for path in sorted(tiles.rglob("*.*g")):
            name = path.relative_to(tiles).as_posix()
            packed.write(path, f"tiles-master/{name}")
            path.unlink()
    tiles.rename(tiles.with_name("emptied"))
    handler = partial(QuietHandler, directory=served)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        dataset = get_dataset("magnetic_tile")
        address = f"http://127.0.0.1:{running.server_port}/master.zip"
        monkeypatch.setitem(vars(dataset), "archive", address)
        yield served / "master.zip"
        running.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def folders(images, root):
    """Folder of each photo below the root, by kind."""
    return [
        {
            images.paths[row].parent.relative_to(root).as_posix()
            for row in np.flatnonzero(images.kind == kind)
        }
        for kind in range(images.kind.max() + 1)
    ]


def command(*arguments, data):
    told = {"SPADEWORK_DATA": str(data), "COLUMNS": "400"}
    before = f"import os; os.environ.update({told})"
    return run("data", *arguments, cwd=data, before=before)


def test_images_need_one_kind_per_photo():
    with pytest.raises(InputError, match="1 photos, 2 kinds"):
        LabeledImages((Path("a.png"),), np.zeros(2, dtype=np.int64), given=(1,))


def test_good_is_normal_and_types_count_in_sorted_order(folder):
    place = make_category(folder)
    images = get_dataset("mvtec_ad/bottle").load()
    assert folders(images, place) == [
        {"train/good", "test/good"},
        {"test/bent"},
        {"test/hole"},
        {"test/scratch"},
    ]
    assert np.bincount(images.kind).tolist() == [3, 1, 2, 3]
    assert images.given == (1, 3)


def test_masks_and_what_tools_leave_behind_are_no_photos(folder):
    place = make_category(folder)
    before = get_dataset("mvtec_ad/bottle").load()
    put(place / "test" / "good", "readme.txt", ".DS_Store", "._000.png")
    put(place / "test" / ".ipynb_checkpoints", "000.png")
    put(place, "license.txt")
    put(place / "test", "notes.txt")
    after = get_dataset("mvtec_ad/bottle").load()
    assert after.paths == before.paths
    assert not any("ground_truth" in path.parts for path in after.paths)


@pytest.mark.parametrize("ending", ["png", "jpg", "JPG"])
def test_photos_may_be_png_or_jpg(folder, ending):
    place = make_category(folder)
    for photo in place.rglob("*.png"):
        photo.rename(photo.with_suffix(f".{ending}"))
    assert len(get_dataset("mvtec_ad/bottle").load().paths) == 9


def test_a_photo_in_two_formats_is_refused(folder):
    place = make_category(folder)
    put(place / "test" / "hole", "001.jpg")
    with pytest.raises(DataError, match=r"hole must hold each photo once"):
        get_dataset("mvtec_ad/bottle").load()


@pytest.mark.parametrize("category", MVTEC_CATEGORIES)
def test_every_category_comes_by_name(folder, category):
    place = make_category(folder, category)
    dataset = get_dataset(f"mvtec_ad/{category}")
    assert dataset.find() == dataset.fetch() == [place]
    assert len(dataset.load().paths) == 9


@pytest.mark.parametrize("name", ["mvtec_ad", "mvtec_ad/", "mvtec_ad/spoon"])
def test_mvtec_without_an_official_category_lists_them(name):
    with pytest.raises(InputError, match=r"got '.*'; categories are bottle,.*zipper"):
        get_dataset(name)
    assert len(MVTEC_CATEGORIES) == 15


@pytest.mark.parametrize("emptied", ["train/good", "test/good", "test/hole"])
def test_a_folder_without_photos_is_named(folder, emptied):
    place = make_category(folder)
    for photo in (place / emptied).iterdir():
        photo.unlink()
    with pytest.raises(DataError, match=rf"{emptied} must hold photos.*mvtec\.com"):
        get_dataset("mvtec_ad/bottle").load()


def test_a_category_without_defects_is_refused(folder):
    place = folder / "mvtec_ad" / "bottle"
    put(place / "train" / "good", "000.png")
    put(place / "test" / "good", "000.png")
    with pytest.raises(DataError, match=r"a folder for each type of defect"):
        get_dataset("mvtec_ad/bottle").load()


def test_an_empty_category_is_refused(folder):
    (folder / "mvtec_ad" / "bottle").mkdir(parents=True)
    with pytest.raises(DataError, match=r"train/good must hold photos"):
        get_dataset("mvtec_ad/bottle").load()


def test_free_tiles_are_normal_and_odd_types_given(tiles):
    images = get_dataset("magnetic_tile").load()
    assert folders(images, tiles) == [
        {f"MT_{name}/Imgs"}
        for name in ("Free", "Blowhole", "Crack", "Break", "Fray", "Uneven")
    ]
    assert np.bincount(images.kind).tolist() == [952, 115, 57, 85, 32, 103]
    assert {path.suffix for path in images.paths} == {".jpg"}
    assert images.given == (1, 3, 5)


def test_missing_and_surplus_tiles_are_counted(folder):
    place = make_tiles(folder)
    (place / "MT_Fray" / "Imgs" / "exp1_num_0.jpg").unlink()
    put(place / "MT_Break" / "Imgs", "another.jpg")
    expected = r"MT_Break/Imgs must hold 85 .* found 86; MT_Fray/Imgs .* 32 .* found 31"
    with pytest.raises(DataError, match=expected) as refused:
        get_dataset("magnetic_tile").load()
    assert str(place) in str(refused.value)
    assert "MT_Free" not in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda photo: photo.write_bytes(b"?"),
        lambda photo: photo.rename(photo.with_name("exp9_num_0.jpg")),
    ],
    ids=["content", "name"],
)
def test_tiles_with_another_content_or_name_are_refused(tiles, change):
    change(tiles / "MT_Fray" / "Imgs" / "exp1_num_0.jpg")
    with pytest.raises(DataError, match=r"not the original ones.*github\.com/abin24"):
        get_dataset("magnetic_tile").load()


def test_an_archive_of_tiles_is_fetched_unpacked_and_removed(folder, archive):
    dataset = get_dataset("magnetic_tile")
    assert dataset.fetch() == dataset.find() == [folder / "magnetic_tile"]
    assert len(dataset.load().paths) == sum(MAGNETIC_TILE_PHOTOS.values())
    masks = list((folder / "magnetic_tile").rglob("*.png"))
    assert len(masks) == len(dataset.load().paths)
    assert {path.name for path in folder.iterdir()} == {
        "emptied",
        "served",
        "magnetic_tile",
    }


def test_an_archive_that_is_cut_off_or_holds_other_photos_leaves_nothing(folder, archive):
    whole = archive.read_bytes()
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("tiles-master/MT_Free/Imgs/one_more.jpg", "")
    for content, reason in (
        (archive.read_bytes(), "MT_Free/Imgs must hold 952"),
        (whole[:-40], "cannot be unpacked"),
    ):
        archive.write_bytes(content)
        with pytest.raises(DataError, match=reason):
            get_dataset("magnetic_tile").fetch()
        assert {path.name for path in folder.iterdir()} == {"emptied", "served"}


def test_names_in_an_archive_of_tiles_lead_nowhere_else(folder, archive):
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("../../outside/MT_Free/Imgs/../../away.jpg", "")
        packed.writestr("/MT_Free/away.jpg", "")
    get_dataset("magnetic_tile").fetch()
    assert not list(folder.parent.rglob("away.jpg"))


def test_an_empty_folder_of_tiles_is_refused(folder):
    (folder / "magnetic_tile").mkdir()
    with pytest.raises(DataError, match=r"MT_Free/Imgs must hold 952 .* found 0;"):
        get_dataset("magnetic_tile").load()


@pytest.mark.parametrize(
    ("name", "verb", "how", "layout"),
    [
        ("mvtec_ad/bottle", "load", "not downloaded.*www.mvtec.com", "train/good"),
        ("mvtec_ad/bottle", "fetch", "not downloaded.*www.mvtec.com", "train/good"),
        (
            "magnetic_tile",
            "load",
            r"fetch magnetic_tile'.*Magnetic-tile-defect-datasets\. ",
            "MT_<type>/Imgs/*.jpg",
        ),
    ],
)
def test_absent_photos_are_explained(folder, name, verb, how, layout):
    dataset = get_dataset(name)
    assert dataset.find() is None
    with pytest.raises(DataError, match=how) as refused:
        getattr(dataset, verb)()
    assert f"{folder / name} holds {layout}" in str(refused.value)


def test_the_list_shows_images_that_are_here_and_counts_the_absent(tmp_path):
    tiles = make_tiles(tmp_path)
    screw = make_category(tmp_path, "screw")
    shown = command("list", data=tmp_path)
    assert shown.returncode == 0, shown.stderr
    cells = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in shown.stdout.splitlines()
        if line.startswith("│")
    ]
    row = {name: rest for name, *rest in cells}
    tables = [name for name, (what, *_) in row.items() if what == "table"]
    assert tables == ["thyroid", "drug", "covertype", "creditcard", "xente"]
    assert row["mvtec_ad/screw"][0] == row["magnetic_tile"][0] == "images"
    assert row["mvtec_ad/screw"][-1] == str(screw)
    assert row["magnetic_tile"][-1] == str(tiles)
    assert row["mvtec_ad/..."][1].startswith("14 of 15 categories: bottle, cable")
    assert row["mvtec_ad/..."][-1] == "not here"
    assert len(row) == 8


def test_no_row_counts_absent_categories_when_all_are_here(tmp_path):
    for category in MVTEC_CATEGORIES:
        make_category(tmp_path, category)
    shown = command("list", data=tmp_path).stdout
    assert all(f"mvtec_ad/{category} " in shown for category in MVTEC_CATEGORIES)
    assert "of 15 categories" not in shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mvtec_ad/bottle", "Get it from https://www.mvtec.com"),
        ("mvtec_ad", "categories are bottle, cable"),
        ("xente", "Get it from https://zindi.africa"),
    ],
)
def test_fetching_what_cannot_be_downloaded_says_what_to_do(tmp_path, name, expected):
    refused = command("fetch", name, data=tmp_path)
    assert refused.returncode == 1
    assert expected in refused.stderr
    assert "Traceback" not in refused.stderr


def test_fetching_what_is_here_prints_its_folder(tmp_path):
    place = make_category(tmp_path)
    assert command("fetch", "mvtec_ad/bottle", data=tmp_path).stdout == f"{place}\n"


@pytest.mark.parametrize(
    ("name", "kinds", "given"),
    [
        ("mvtec_ad/bottle", [229, 20, 22, 21], (1, 3)),
        ("mvtec_ad/screw", [361, 24, 24, 25, 23, 23], (1, 3, 5)),
        ("magnetic_tile", [952, 115, 57, 85, 32, 103], (1, 3, 5)),
    ],
)
def test_real_photos_have_the_kinds_of_the_appendix(name, kinds, given):
    images = load_table(name)
    assert np.bincount(images.kind).tolist() == kinds
    assert images.given == given
    assert len(set(images.paths)) == sum(kinds)
    assert all(path.stat().st_size > 0 for path in images.paths)
