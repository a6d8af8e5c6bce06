"""Made pictures: a glow with noise, and on some a bright square, as arrays and files."""

import numpy as np


def made_pictures(n_pictures, n_defects, seed, side=64):
    """Pixels (n, side, side, 3), truth (n,) and corners of the squares (n, 2).

    Squares are a quarter of a picture wide, and stay away from its edges.
    """
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side] / side - 0.5
    glow = 100 + 60 * np.exp(-8 * (y**2 + x**2))
    pixels = glow[None, :, :, None] + rng.normal(0, 4, (n_pictures, side, side, 3))
    truth = rng.permutation(np.arange(n_pictures) < n_defects).astype(np.int8)
    corners = rng.integers(side // 8, side - 3 * side // 8, (n_pictures, 2))
    for row in np.flatnonzero(truth):
        y, x = corners[row]
        pixels[row, y : y + side // 4, x : x + side // 4] = 240
    return pixels.clip(0, 255).astype(np.uint8), truth, corners


def partly_labeled(truth):
    """Labels of half of the normal pictures and of two in three defects."""
    labels = truth.copy()
    labels[np.flatnonzero(truth == 0)[::2]] = -1
    labels[np.flatnonzero(truth == 1)[::3]] = -1
    return labels


def write_pictures(folder, pixels, labels):
    """Write PNG files into good/, defect/square/ and unlabeled/."""
    from PIL import Image

    places = {0: "good", 1: "defect/square", -1: "unlabeled"}
    for row, (picture, label) in enumerate(zip(pixels, labels.tolist(), strict=True)):
        path = folder / places[label] / f"{row:03d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path)
