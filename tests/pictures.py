"""Made pictures: a glow with noise, and on some a bright square, as arrays and files."""

from functools import cache

import numpy as np

from spadework import ImageSPADE


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


@cache
def learnable_pictures():
    """Pixels, truth and labels of 30 pictures, in the order that folders hold them in."""
    pixels, truth, _ = made_pictures(30, 8, seed=0)
    labels = partly_labeled(truth)
    order = np.argsort(-labels, kind="stable")
    arrays = pixels[order], truth[order], labels[order]
    for array in arrays:
        array.flags.writeable = False
    return arrays


@cache
def fitted_detector():
    """A detector that has learnt from them; never to be changed."""
    pixels, _, labels = learnable_pictures()
    return ImageSPADE(size=64, random_state=0).fit(pixels, labels)
