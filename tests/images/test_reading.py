"""Pictures are read in their order, and those that cannot be are refused or left out."""

import io
import itertools
import logging
import os
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest
from made_photos import write_greys
from PIL import Image

from spadework.errors import DataError, InputError
from spadework.images import reading
from spadework.images.reading import iter_photos, read_photos


def broken(folder):
    """Make one file of each kind that is no whole picture, by what is said of it."""
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    whole = io.BytesIO()
    Image.fromarray(noise).save(whole, "JPEG")
    contents = {
        "empty": b"",
        "not a picture": b"GIF89a, or nearly",
        "truncated": whole.getvalue()[:-500],
        "more pixels than are safe": huge_png(),
    }
    paths = {}
    for number, (reason, content) in enumerate(contents.items()):
        paths[reason] = folder / f"broken{number}.png"
        paths[reason].write_bytes(content)
    return {**paths, "no such file": folder / "absent.png", "not a file": folder}


def huge_png():
    """A PNG of a few bytes that says it has 10 billion pixels."""
    sides = (100_000).to_bytes(4, "big") * 2
    chunks = [b"IHDR" + sides + bytes([8, 0, 0, 0, 0]), b"IDAT" + zlib.compress(b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(chunk[4:]).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
        for chunk in chunks
    )


@pytest.mark.parametrize("n_cores", [1, 2, 7])
def test_order_is_kept_whatever_the_number_of_cores(tmp_path, monkeypatch, n_cores):
    monkeypatch.setattr(reading, "usable_cores", lambda: n_cores)
    levels = np.random.default_rng(0).integers(0, 255, 60)
    paths = write_greys(tmp_path, levels)
    Image.new("L", (2000, 2000), int(levels[0])).save(paths[0])  # takes the longest
    pixels, kept = read_photos(paths, 4)
    assert (pixels == levels[:, None, None, None]).all()
    assert kept.tolist() == list(range(60))


def test_corrupt_pictures_are_all_counted_and_some_named(tmp_path):
    good = write_greys(tmp_path, range(3))
    bad = list(broken(tmp_path).values())
    with pytest.raises(DataError, match=r"6 of 9 pictures .* and 1 more\. .*'skip'"):
        read_photos([good[0], *bad, *good[1:]], 4)


def test_every_kind_of_broken_file_is_told(tmp_path):
    for reason, path in broken(tmp_path).items():
        with pytest.raises(DataError, match=f"1 of 1 .*{path.name} \\(.*{reason}"):
            read_photos([path], 4)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_a_file_that_may_not_be_read_is_told(tmp_path):
    (path,) = write_greys(tmp_path, [1])
    path.chmod(0)
    with pytest.raises(DataError, match="Permission denied"):
        read_photos([path], 4)


def test_corrupt_pictures_can_be_left_out_and_are_logged(tmp_path, caplog):
    good = write_greys(tmp_path, [10, 20, 30])
    bad = list(broken(tmp_path).values())
    paths = [bad[0], good[0], *bad[1:4], good[1], good[2], bad[4]]
    with caplog.at_level(logging.WARNING, "spadework"):
        pixels, kept = read_photos(paths, 4, on_corrupt="skip")
    assert kept.tolist() == [1, 5, 6]
    assert pixels[:, 0, 0, 0].tolist() == [10, 20, 30]
    assert "5 of 8 pictures cannot be read" in caplog.text
    with pytest.raises(DataError, match="no picture is left"):
        read_photos(bad, 4, on_corrupt="skip")


def test_chunks_are_the_whole_in_order(tmp_path):
    levels = np.arange(23)
    paths = write_greys(tmp_path, levels)
    chunks = list(iter_photos(iter(paths), 4, 5))
    assert [len(indices) for indices, _ in chunks] == [5, 5, 5, 5, 3]
    assert np.concatenate([indices for indices, _ in chunks]).tolist() == list(range(23))
    pixels = np.concatenate([pixels for _, pixels in chunks])
    assert (pixels == read_photos(paths, 4).pixels).all()


def test_chunks_refuse_or_leave_out_corrupt_pictures(tmp_path):
    paths = write_greys(tmp_path, range(9))
    for row in (3, 4, 5, 7):
        paths[row].write_bytes(b"")
    chunks = iter_photos(paths, 4, 3)
    assert next(chunks)[0].tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="3 of 3 pictures cannot be read"):
        next(chunks)
    left = [
        indices.tolist() for indices, _ in iter_photos(paths, 4, 3, on_corrupt="skip")
    ]
    assert left == [[0, 1, 2], [6, 8]]


def test_a_stream_without_end_is_read_ahead_only_a_little(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "usable_cores", lambda: 2)
    (path,) = write_greys(tmp_path, [5])
    taken = itertools.count()
    stream = (path for _ in iter(lambda: next(taken), -1))
    chunks = iter_photos(stream, 4, 10)
    for _ in range(3):
        next(chunks)
    assert next(taken) <= 30 + 10 + 8 + 1
    chunks.close()  # pyright: ignore[reportAttributeAccessIssue]
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("spadework-pictures")]


def test_parameters_without_meaning_are_refused(tmp_path):
    (path,) = write_greys(tmp_path, [1])
    with pytest.raises(InputError, match="no pictures to read"):
        read_photos([])
    with pytest.raises(InputError, match="a list of files; got 'folder'"):
        read_photos("folder")
    with pytest.raises(InputError, match="size must be a positive integer; got 0"):
        read_photos([path], 0)
    with pytest.raises(InputError, match="chunk must be a positive integer"):
        iter_photos([path], chunk=0)
    with pytest.raises(InputError, match="'refuse' or 'skip'; got 'ignore'"):
        read_photos([path], on_corrupt="ignore")  # pyright: ignore[reportArgumentType]


def test_finding_pictures_and_taking_arrays_needs_neither_pillow_nor_torch():
    code = (
        "import sys\n"
        "sys.modules['PIL'] = None\n"
        "import spadework.images.photos\n"
        "from spadework.images.reading import as_pixels\n"
        "import numpy as np\n"
        "as_pixels(np.zeros((2, 4, 4)), 4)\n"
        "print([name for name in ('torch', 'sklearn') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr
