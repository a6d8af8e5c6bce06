"""Pictures of any mode and size come out as the same pixels, in order, or are refused."""

import io
import itertools
import logging
import os
import subprocess
import sys
import threading
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from real_data import load_table
from spadework.errors import DataError, InputError
from spadework.images import decoding, reading, storing
from spadework.images.photos import find_photos
from spadework.images.reading import iter_photos, read_photos

SIZE = 16
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def flag(width=32, height=32):
    """A red picture, green at the upper left and blue at the lower left."""
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    pixels[:] = RED
    pixels[: height // 2, : width // 2] = GREEN
    pixels[height // 2 :, : width // 2] = BLUE
    return Image.fromarray(pixels)


def corners(pixels):
    """Colours near the corners: upper left, upper right, lower left, lower right."""
    return [tuple(pixels[y, x].tolist()) for y in (2, -3) for x in (2, -3)]


def read_one(image, tmp_path, name="picture.png", **options):
    image.save(tmp_path / name, **options)
    return read_photos([tmp_path / name], SIZE).pixels[0]


def write_greys(folder, levels):
    """Make small pictures of one grey each."""
    paths = [folder / f"{row:04}.png" for row in range(len(levels))]
    for path, level in zip(paths, levels, strict=True):
        Image.new("L", (8, 8), int(level)).save(path)
    return paths


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


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "CMYK", "YCbCr"])
def test_colours_survive_every_mode(tmp_path, mode):
    ending = {"CMYK": "tif", "YCbCr": "tif"}.get(mode, "png")
    pixels = read_one(flag().convert(mode), tmp_path, f"picture.{ending}")
    assert pixels.shape == (SIZE, SIZE, 3)
    found = np.array(corners(pixels), dtype=int)
    assert np.abs(found - [GREEN, RED, BLUE, RED]).max() <= 2


@pytest.mark.parametrize("ending", ["jpg", "jpeg", "png", "bmp", "tif", "tiff", "webp"])
def test_every_format_is_read(tmp_path, ending):
    pixels = read_one(flag(64, 64), tmp_path, f"picture.{ending}")
    found = np.array(corners(pixels), dtype=int)
    assert np.abs(found - [GREEN, RED, BLUE, RED]).max() <= 12


def test_a_colour_jpeg_for_print_is_read(tmp_path):
    found = read_one(flag().convert("CMYK"), tmp_path, "p.jpg", quality=95)
    assert np.abs(np.array(corners(found), int) - [GREEN, RED, BLUE, RED]).max() <= 20


@pytest.mark.parametrize(("mode", "white"), [("1", 1), ("L", 255), ("LA", (255, 255))])
def test_grey_and_black_and_white_become_equal_channels(tmp_path, mode, white):
    image = Image.new(mode, (32, 32), 0 if mode != "LA" else (0, 255))
    image.paste(white, (0, 0, 16, 32))
    pixels = read_one(image, tmp_path)
    assert corners(pixels) == [WHITE, (0, 0, 0)] * 2


@pytest.mark.parametrize("kind", ["<u2", ">u2"])
def test_grey_of_16_bits_is_scaled_and_not_clipped(tmp_path, kind):
    levels = np.linspace(0, 65_535, SIZE).astype(kind)
    image = Image.fromarray(np.tile(levels, (SIZE, 1)))
    for name in ("picture.png", "picture.tif"):
        pixels = read_one(image, tmp_path, name)
        assert (pixels[0, :, 0] == np.rint(levels / 257)).all()


def test_floats_are_read_from_0_to_1_and_refused_beyond(tmp_path):
    values = np.tile(np.linspace(0, 1, SIZE, dtype=np.float32), (SIZE, 1))
    pixels = read_one(Image.fromarray(values), tmp_path, "picture.tif")
    assert (pixels[0, :, 0] == np.rint(values[0] * 255)).all()
    with pytest.raises(DataError, match="values from 0 to 7, expected 0 to 1"):
        read_one(Image.fromarray(values * 7), tmp_path, "picture.tif")


def test_32_bit_integers_beyond_16_bits_are_refused(tmp_path):
    values = np.full((SIZE, SIZE), 65_535, dtype=np.int32)
    assert (read_one(Image.fromarray(values), tmp_path, "a.tif") == 255).all()
    with pytest.raises(DataError, match="expected 0 to 65535"):
        read_one(Image.fromarray(values + 1), tmp_path, "a.tif")


def test_what_is_transparent_is_laid_on_white(tmp_path):
    image = flag().convert("RGBA")
    image.paste((0, 0, 0, 0), (16, 0, 32, 32))
    assert corners(read_one(image, tmp_path)) == [GREEN, WHITE, BLUE, WHITE]
    half = Image.new("RGBA", (8, 8), (255, 0, 0, 128))
    assert corners(read_one(half, tmp_path)) == [(255, 127, 127)] * 4


@pytest.mark.parametrize("mode", ["P", "RGB", "L", "1"])
def test_a_transparent_colour_is_laid_on_white(tmp_path, mode):
    black = {"RGB": (0, 0, 0)}.get(mode, 0)
    image = Image.new(mode, (8, 8), black)
    assert corners(read_one(image, tmp_path, transparency=black)) == [WHITE] * 4


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("ending", ["jpg", "png", "tif", "webp"])
def test_pictures_stand_upright_as_the_camera_noted(tmp_path, ending, orientation):
    from PIL import ImageOps

    image = flag(96, 64)
    exif = Image.Exif()
    exif[0x0112] = orientation
    pixels = read_one(image, tmp_path, f"picture.{ending}", exif=exif)
    noted = image.copy()
    noted.getexif()[0x0112] = orientation
    upright = np.asarray(ImageOps.exif_transpose(noted).resize((SIZE, SIZE)))
    difference = np.array(corners(pixels), int) - np.array(corners(upright), int)
    assert np.abs(difference).max() <= 25


def test_broken_notes_do_not_make_a_picture_unreadable(tmp_path):
    pixels = read_one(flag(), tmp_path, "picture.webp", exif=b"Exif\0\0nonsense")
    assert pixels.shape == (SIZE, SIZE, 3)


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (3, 7), (900, 700)])
def test_any_size_becomes_the_square(tmp_path, shape):
    assert (read_one(Image.new("L", shape, 70), tmp_path) == 70).all()


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_making_small_averages_and_does_not_pick(tmp_path, ending):
    rng = np.random.default_rng(0)
    values = rng.choice(np.array([0, 255], np.uint8), (1200, 1600))
    pixels = read_one(Image.fromarray(values), tmp_path, f"picture.{ending}", quality=95)
    assert np.abs(pixels.astype(int) - 127).max() < 25


def test_large_jpegs_are_close_to_what_reading_all_pixels_gives(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    image = Image.fromarray(noise).resize((1500, 1000), Image.Resampling.BICUBIC)
    image.save(tmp_path / "p.jpg", quality=95)
    whole = Image.open(tmp_path / "p.jpg").resize((64, 64), Image.Resampling.BILINEAR)
    pixels = read_photos([tmp_path / "p.jpg"], 64).pixels[0]
    assert np.abs(pixels.astype(int) - np.asarray(whole)).mean() < 2


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


def test_other_formats_are_refused_whatever_they_are_called(tmp_path):
    flag().save(tmp_path / "film.png", "GIF")
    with pytest.raises(DataError, match="not a picture of JPEG, PNG"):
        read_photos([tmp_path / "film.png"], 4)


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
    flag(64, 64).save(path)
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
    flag(8, 8).save(path)
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


def test_reading_warns_of_nothing(tmp_path):
    image = flag().convert("P")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_one(image, tmp_path, transparency=bytes([255, 0, 128]))
        read_one(flag(), tmp_path, "picture.jpg")


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


def test_without_pillow_modules_import_and_reading_says_what_to_install():
    code = (
        "import sys\n"
        "sys.modules['PIL'] = None\n"
        "import spadework.images.arrays, spadework.images.photos\n"
        "from spadework.images.reading import as_pixels, read_photos\n"
        "import numpy as np\n"
        "as_pixels(np.zeros((2, 4, 4)), 4)\n"
        "try:\n"
        "    read_photos(['a.png'])\n"
        "except ValueError as error:\n"
        "    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'spadework[images]'" in run.stdout, run.stderr


def test_finding_and_reading_load_pillow_only_when_used():
    code = (
        "import sys, spadework.images.photos, spadework.images.reading\n"
        "print([name for name in ('PIL', 'torch', 'sklearn') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


def test_real_tiles_are_read_as_they_are():
    paths = load_table("magnetic_tile").paths[::20]
    pixels, kept = read_photos(find_photos(paths).paths, 64)
    assert pixels.shape == (68, 64, 64, 3)
    assert len(kept) == 68
    for path, picture in zip(paths, pixels, strict=True):
        with Image.open(path) as image:
            assert abs(np.asarray(image.convert("L")).mean() - picture.mean()) < 2


def test_the_names_of_formats_are_those_of_pillow():
    Image.init()
    assert set(decoding.FORMATS) <= set(Image.OPEN)
