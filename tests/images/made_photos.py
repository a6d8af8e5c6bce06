"""Made photos: stripes with noise, on some a bright square; greys, and empty files."""

import numpy as np

SIDE = 32


def made_photos(n_photos, n_defects, seed):
    """Pixels (n_photos, 32, 32, 3) and truth (n_photos,), in random order."""
    rng = np.random.default_rng(seed)
    stripes = 110 + 15 * np.sin(np.arange(SIDE) / 3)[None, None, :, None]
    pixels = stripes + rng.normal(0, 10, (n_photos, SIDE, SIDE, 3))
    truth = rng.permutation(np.arange(n_photos) < n_defects).astype(np.int8)
    for photo in np.flatnonzero(truth):
        y, x = rng.integers(0, SIDE - 8, 2)
        pixels[photo, y : y + 8, x : x + 8] = 240
    return pixels.clip(0, 255).astype(np.uint8), truth


def partly_labeled(truth):
    """Labels with half of the normal photos and a third of the others left unlabeled."""
    labels = truth.copy()
    labels[np.flatnonzero(truth == 0)[::2]] = -1
    labels[np.flatnonzero(truth == 1)[::3]] = -1
    return labels


def write_greys(folder, levels):
    """Make small pictures of one grey each."""
    from PIL import Image

    paths = [folder / f"{row:04}.png" for row in range(len(levels))]
    for path, level in zip(paths, levels, strict=True):
        Image.new("L", (8, 8), int(level)).save(path)
    return paths


def put(folder, *names):
    """Make empty files: pictures are found, never opened."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
