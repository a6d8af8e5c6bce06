"""Folders and tables say which pictures are normal; what is unclear is refused."""

import numpy as np
import pandas as pd
import pytest
from made_photos import put

from spadework.errors import DataError, InputError, LabelError
from spadework.images.photos import find_photos, refuse_unlabeled


def described(photos):
    """What was found: name -> (label, kind)."""
    labels = photos.labels.tolist()
    return dict(zip(photos.names, zip(labels, photos.kinds, strict=True), strict=True))


def test_folders_say_what_pictures_are(tmp_path):
    put(tmp_path, "good/b.png", "good/day 2/a.JPG", "defect/scratch/a.tif")
    put(tmp_path, "defect/dent/left/a.webp", "defect/c.bmp", "unlabeled/x/y/z.jpeg")
    photos = find_photos(tmp_path)
    assert described(photos) == {
        "defect/c.bmp": (1, "defect"),
        "defect/dent/left/a.webp": (1, "dent"),
        "defect/scratch/a.tif": (1, "scratch"),
        "good/b.png": (0, "good"),
        "good/day 2/a.JPG": (0, "good"),
        "unlabeled/x/y/z.jpeg": (-1, ""),
    }
    assert photos.labels.dtype == np.int8
    assert list(photos.names) == sorted(photos.names)
    assert all(
        path == tmp_path / name
        for path, name in zip(photos.paths, photos.names, strict=True)
    )


@pytest.mark.parametrize("name", ["good/a.png", "defect/a.png", "unlabeled/a.png"])
def test_any_one_folder_is_enough(tmp_path, name):
    put(tmp_path, name)
    assert find_photos(str(tmp_path)).names == (name,)


def test_the_case_of_folder_names_does_not_matter(tmp_path):
    put(tmp_path, "Good/a.png", "Defect/dent/a.png")
    assert find_photos(tmp_path).labels.tolist() == [1, 0]


def test_a_folder_without_these_names_is_unlabeled(tmp_path):
    put(tmp_path, "b.png", "a.jpg", "monday/c.png")
    assert described(find_photos(tmp_path)) == {
        "a.jpg": (-1, ""),
        "b.png": (-1, ""),
        "monday/c.png": (-1, ""),
    }


def test_folders_of_mvtec_are_known_and_masks_left_out(tmp_path):
    put(tmp_path, "train/good/0.png", "test/good/0.png", "test/hole/0.png")
    put(tmp_path, "ground_truth/hole/0_mask.png", "license.txt")
    assert described(find_photos(tmp_path)) == {
        "test/good/0.png": (0, "good"),
        "test/hole/0.png": (1, "hole"),
        "train/good/0.png": (0, "good"),
    }


def test_a_folder_whose_names_label_nothing_is_refused_with_what_is_there(tmp_path):
    put(tmp_path, "OK/a.png", "NG/b.png")
    photos = find_photos(tmp_path)
    with pytest.raises(LabelError, match="good/ or defect/ in it, found NG/, OK/"):
        refuse_unlabeled(photos, tmp_path)


def test_empty_rows_of_a_table_of_labels_are_left_out(tmp_path):
    put(tmp_path, "a.png", "b.png")
    (tmp_path / "labels.csv").write_text("file,label\na.png,1\n,\n,\n")
    assert find_photos(tmp_path, tmp_path / "labels.csv").labels.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["good/a.png", "bad/b.png"], "1 names in .*: bad/. Expected .*defect/<type>/"),
        (["good/a.png", "b.png"], "b.png. Expected"),
        (["train/good/a.png", "unlabeled/b.png"], "unlabeled/. Expected"),
        (["train/bad/a.png", "test/good/a.png"], "bad/. Expected"),
        (["test/a.png"], "a.png. Expected"),
        (["defect/good/a.png"], "lies among defects"),
    ],
)
def test_names_that_say_nothing_are_refused(tmp_path, names, named):
    put(tmp_path, *names)
    with pytest.raises(DataError, match=named):
        find_photos(tmp_path)


def test_a_list_keeps_its_order_and_is_unlabeled(tmp_path):
    put(tmp_path, "b.png", "a.png")
    paths = [str(tmp_path / "b.png"), tmp_path / "a.png"]
    photos = find_photos(paths)
    assert [path.name for path in photos.paths] == ["b.png", "a.png"]
    assert photos.labels.tolist() == [-1, -1]
    assert photos.names[0] == (tmp_path / "b.png").as_posix()


def test_lists_that_make_no_sense_are_refused(tmp_path):
    put(tmp_path, "a.png")
    path = tmp_path / "a.png"
    with pytest.raises(DataError, match="list of pictures is empty"):
        find_photos([])
    with pytest.raises(DataError, match=r"6 of the listed .* 0.png, .* and 1 more"):
        find_photos([path, *(f"{n}.png" for n in range(6))])
    with pytest.raises(DataError, match="1 pictures are listed twice"):
        find_photos([path, path])
    with pytest.raises(LabelError, match="relative to a folder"):
        find_photos([path], labels=pd.DataFrame({"file": ["a.png"], "label": [1]}))
    with pytest.raises(InputError, match="a folder or a list of paths"):
        find_photos(np.zeros((2, 4, 4)))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("column", ["file", "path", "image", "name"])
def test_a_table_labels_files_and_leaves_the_others(tmp_path, column):
    put(tmp_path, "a.png", "b.png", "c.png", "sub/d.png", "good/e.png")
    table = tmp_path / "labels.csv"
    table.write_text(f"{column},label\nsub/d.png,1\n./b.png,0\na.png,\n")
    assert described(find_photos(tmp_path, table)) == {
        "a.png": (-1, ""),
        "b.png": (0, "good"),
        "c.png": (-1, ""),
        "good/e.png": (-1, ""),
        "sub/d.png": (1, "defect"),
    }


def test_a_table_may_spell_paths_in_other_ways(tmp_path):
    put(tmp_path, "sub/a.png", "b.png", "c.png")
    files = ["sub\\a.png", str(tmp_path / "b.png")]
    table = pd.DataFrame({"file": files, "label": [1, 0]})
    assert find_photos(tmp_path, table).labels.tolist() == [0, -1, 1]


def test_words_are_labels_by_a_map(tmp_path):
    put(tmp_path, "a.png", "b.png", "c.png", "d.png")
    table = tmp_path / "labels.csv"
    table.write_text("file,label\na.png,broken\nb.png,ok\nc.png,?\n")
    words = {"broken": 1, "ok": 0, "?": -1, None: 0}
    assert find_photos(tmp_path, table, label_map=words).labels.tolist() == [1, 0, -1, -1]
    with pytest.raises(LabelError, match="unknown label value 'broken'"):
        find_photos(tmp_path, table)
    with pytest.raises(InputError, match="give labels too"):
        find_photos(tmp_path, label_map=words)


def test_zero_and_one_for_all_pictures_must_be_explained_as_in_tables(tmp_path):
    put(tmp_path, "a.png", "b.png")
    table = pd.DataFrame({"file": ["a.png", "b.png"], "label": [1, 0]})
    with pytest.raises(LabelError, match="may mean 'normal' or 'not known'"):
        find_photos(tmp_path, table)
    found = find_photos(tmp_path, table, label_map={1: 1, 0: 0})
    assert found.labels.tolist() == [1, 0]


def test_tables_that_do_not_fit_the_folder_are_refused(tmp_path):
    put(tmp_path, "a.png", "b.png")

    def read(**columns):
        return find_photos(tmp_path, pd.DataFrame(columns))

    with pytest.raises(DataError, match=r"7 of the 8 files .*: 0.png, .* and 2 more"):
        read(file=["a.png", *(f"{n}.png" for n in range(7))], label=[1] * 8)
    with pytest.raises(DataError, match="in the table of labels twice"):
        read(file=["a.png", "./a.png"], label=[1, 1])
    with pytest.raises(
        DataError, match=r"column file, path, image or name.*it has photo"
    ):
        read(photo=["a.png"], label=[1])
    with pytest.raises(LabelError, match="no label column 'label'"):
        read(file=["a.png"], state=[1])
    with pytest.raises(DataError, match="does not exist"):
        find_photos(tmp_path, tmp_path / "labels.csv")
