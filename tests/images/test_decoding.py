"""A picture of any mode and size becomes a square of the same colours, or is refused."""

import warnings

import numpy as np
import pytest
from PIL import Image

from spadework.errors import DataError
from spadework.images import decoding
from spadework.images.reading import read_photos

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


def test_other_formats_are_refused_whatever_they_are_called(tmp_path):
    flag().save(tmp_path / "film.png", "GIF")
    with pytest.raises(DataError, match="not a picture of JPEG, PNG"):
        read_photos([tmp_path / "film.png"], 4)


def test_reading_warns_of_nothing(tmp_path):
    image = flag().convert("P")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_one(image, tmp_path, transparency=bytes([255, 0, 128]))
        read_one(flag(), tmp_path, "picture.jpg")


def test_the_names_of_formats_are_those_of_pillow():
    Image.init()
    assert set(decoding.FORMATS) <= set(Image.OPEN)
