"""Few pixels are kept in memory, many in a file that leaves nothing behind."""

import os
import subprocess
import sys

import numpy as np
import pytest
from made_photos import write_greys
from PIL import Image

from spadework.errors import DataError
from spadework.images import reading, storing
from spadework.images.reading import read_photos


def test_few_pictures_are_in_memory_and_many_in_a_file(tmp_path, monkeypatch):
    paths = write_greys(tmp_path, range(20))
    few = read_photos(paths, 8).pixels
    assert not isinstance(few, np.memmap)
    monkeypatch.setattr(storing, "MEMORY_BYTES", 1000)
    monkeypatch.setattr(storing.tempfile, "tempdir", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    many = read_photos(paths, 8).pixels
    assert isinstance(many, np.memmap)
    assert (many == few).all()
    assert not list((tmp_path / "cache").iterdir())
    paths[3].write_bytes(b"")
    assert (read_photos(paths, 8, on_corrupt="skip").pixels[3:] == few[4:]).all()


def test_memory_stays_bounded(tmp_path):
    path = tmp_path / "p.jpg"
    Image.new("RGB", (64, 64), "red").save(path)
    code = (
        "import resource, sys\n"
        "from spadework.images.reading import read_photos\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "read_photos(sys.argv[1:] * 10, 256)\n"
        "before = peak()\n"
        "pixels, kept = read_photos(sys.argv[1:] * 1000, 256)\n"
        "print(pixels.nbytes / 2**20, peak() - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    size, growth = map(float, run.stdout.split())
    assert size > 180
    assert growth < 40


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path):
    path = tmp_path / "p.png"
    Image.new("RGB", (8, 8), "red").save(path)
    cache = tmp_path / "cache"
    cache.mkdir()
    code = (
        "import resource, sys\n"
        "from spadework.errors import DataError\n"
        "from spadework.images import storing\n"
        "from spadework.images.reading import read_photos\n"
        "storing.MEMORY_BYTES = 1000\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "try:\n"
        "    read_photos(sys.argv[1:] * 100, 32)\n"
        "except DataError as error:\n"
        "    print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(cache)},
    )
    assert "File too large" in run.stdout, run.stderr
    assert str(cache) in run.stdout
    assert "TMPDIR" in run.stdout
    assert not list(cache.iterdir())


def test_a_disk_with_too_little_room_is_refused_before_any_work(tmp_path, monkeypatch):
    (path,) = write_greys(tmp_path, [1])
    monkeypatch.setattr(reading, "decode", lambda *_: pytest.fail("work was done"))
    with pytest.raises(DataError, match=r"GB are needed, .* are free\)\. Make room"):
        read_photos([path] * 1000, 10**6)
