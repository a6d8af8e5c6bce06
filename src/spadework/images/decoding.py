"""Turn one picture, of any size and mode, into a square of colour pixels."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.arrays import Pixels
from spadework.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image, Transpose

FORMATS = ("JPEG", "PNG", "BMP", "TIFF", "WEBP")
_ORIENTATION = 0x0112
_MAX_GREY = 65_535
_DRAFT_FACTOR = 2
_REDUCING_GAP = 3.0
"""How many times the size wanted a JPEG is unpacked at, at least, and others are first
averaged down to: small enough to be fast, large enough not to be seen."""


class Unreadable(NamedTuple):
    """A file that could not be read as a picture, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path} ({self.reason})"


def load_pillow() -> None:
    """Load Pillow with all its formats, before threads use it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError(
            f"reading pictures needs Pillow ({error}); install it with "
            f"pip install 'spadework[images]'"
        ) from error
    Image.init()


def decode(path: Path, size: int) -> Pixels | Unreadable:
    """Read a file as pixels (size, size, 3), or say why that is impossible."""
    from PIL import Image

    try:
        if not path.is_file():
            return Unreadable(path, "not a file" if path.exists() else "no such file")
        if not path.stat().st_size:
            return Unreadable(path, "empty")
        with Image.open(path, formats=FORMATS) as image:
            return _square(image, size)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise whatever a broken file leads them to
        return Unreadable(path, _reason(error))


def resize_pixels(pixels: Pixels, size: int) -> Pixels:
    """Resize pixels of shape (H, W) or (H, W, 3) to (size, size, 3)."""
    if pixels.shape[:2] != (size, size):
        load_pillow()
        from PIL import Image

        pixels = np.asarray(_resize(Image.fromarray(pixels), size))
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    return np.broadcast_to(pixels, (size, size, 3))


def scale_grey(values: NDArray[Any]) -> Pixels:
    """Scale 16-bit integers, or floats from 0 to 1, to 8 bits; the shape stays."""
    top = 1 if values.dtype.kind == "f" else _MAX_GREY
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= top):  # NaN is refused too
        raise ValueError(f"values from {low:g} to {high:g}, expected 0 to {top}")
    return np.rint(values * np.float32(255 / top)).astype(np.uint8)


def _reason(error: Exception) -> str:
    """Put into a few words why a file could not be read."""
    from PIL import Image, UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        return f"not a picture of {', '.join(FORMATS)}"
    if isinstance(error, Image.DecompressionBombError):
        return "more pixels than are safe to unpack"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines()
    return lines[0][:100] if lines else type(error).__name__


def _square(image: "Image", size: int) -> Pixels:
    """Return an opened picture as colour pixels (size, size, 3)."""
    image.draft(None, (_DRAFT_FACTOR * size, _DRAFT_FACTOR * size))
    image.load()
    turn = _turn(image)
    square = _resize(_without_extras(image), size)
    if turn is not None:  # turned last, for then there is less to turn
        square = square.transpose(turn)
    return np.asarray(square.convert("RGB"))


def _turn(image: "Image") -> "Transpose | None":
    """Return what makes a picture stand upright, None for nothing."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    try:
        return turns.get(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # a picture whose notes are broken is still a picture
        return None


def _without_extras(image: "Image") -> "Image":
    """Return a picture as 8-bit grey or colour, what is transparent laid on white."""
    from PIL import Image

    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return Image.fromarray(scale_grey(np.asarray(image)))
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("L" if image.mode in ("1", "L") else "RGB")


def _resize(image: "Image", size: int) -> "Image":
    """Resize to a square; every pixel of a larger picture counts."""
    from PIL.Image import Resampling

    if image.size == (size, size):
        return image
    return image.resize((size, size), Resampling.BILINEAR, reducing_gap=_REDUCING_GAP)
