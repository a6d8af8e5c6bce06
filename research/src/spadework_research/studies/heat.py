"""How well heat maps find defects: pixel AUROC against the masks that come with photos.

``python -m spadework_research.studies.heat`` finds the patches of the default, on which
heat maps rest, in photos with new types of defects, seeds 0 to 4. It prints and keeps
every measurement. Sets of photos that are not there are named and left out. A GPU is used
where there is one.
"""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spadework.core.ranks import share_below
from spadework.errors import InputError
from spadework.images.detector import ImageSPADE
from spadework.images.pretrained import PATCHES, PretrainedLearner
from spadework.images.reading import DEFAULT_SIZE, read_photos
from spadework.scenarios import LabeledTable, new_types
from spadework_research.datasets.catalog import get_dataset
from spadework_research.datasets.photo_sets import LabeledImages
from spadework_research.datasets.photo_tables import TRAIN_SHARE
from spadework_research.places import results_folder
from spadework_research.runs.tables import PHOTO_SHARE

RESULTS = results_folder() / "heat.json"
DATASETS = ("mvtec_ad/bottle", "mvtec_ad/screw", "magnetic_tile")
SEEDS = 5

Masks = NDArray[np.bool_]


def main() -> None:
    """Measure every set of photos that is here, and write the results."""
    results: dict[str, Any] = {}
    for name in DATASETS:
        if get_dataset(name).find() is None:
            print(name, "is not here", flush=True)
            continue
        found = measure(name)
        results[name] = {"pixel_auroc": found, "mean": round(mean(found), 4)}
        print(name, results[name], flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def measure(name: str) -> list[float]:
    """Pixel AUROC of the test photos by seed."""
    images = get_dataset(name).load()
    if not isinstance(images, LabeledImages):
        raise InputError(f"{name} is a table; heat maps are of photos")
    pixels, masks = read_photos(images.paths).pixels, read_masks(images)
    numbers = np.arange(len(pixels))[:, None]
    table = LabeledTable(numbers, images.kind, images.given, train_share=TRAIN_SHARE)
    found = []
    for seed in range(SEEDS):
        trial = new_types(table, seed, share=PHOTO_SHARE)
        train, test = (X[:, 0].astype(np.intp) for X in (trial.X, trial.X_test))
        learner = PretrainedLearner(parts=(PATCHES,))
        detector = ImageSPADE(learner=learner, random_state=seed)
        detector.fit(pixels[train], trial.y)
        heat = detector.heat_map(pixels[test])
        found.append(round(pixel_auroc(heat, masks[test]), 4))
    return found


def pixel_auroc(heat: NDArray[np.floating], masks: Masks) -> float:
    """Chance that a pixel of a defect is hotter than any other pixel; ties count half.

    Pixels of all photos are compared with each other, those of normal photos too.

    Parameters
    ----------
    heat : ndarray of shape (n_photos, height, width)
    masks : bool ndarray of shape (n_photos, height, width)
        True on defects.
    """
    if heat.shape != masks.shape:
        raise InputError(
            f"expected a mask for each heat map: {heat.shape} and {masks.shape}"
        )
    inside, outside = (heat[each].astype(np.float64) for each in (masks, ~masks))
    if not inside.size or not outside.size:
        raise InputError("masks must hold pixels of defects, and others")
    return float(share_below(inside, outside).mean())


def read_masks(images: LabeledImages, size: int = DEFAULT_SIZE) -> Masks:
    """Read where the defects of photos are, (n_photos, size, size); none on normal ones.

    Raises
    ------
    FileNotFoundError
        If a photo with a defect has no mask.
    """
    masks = np.zeros((len(images.paths), size, size), dtype=bool)
    for row in np.flatnonzero(images.kind):
        with Image.open(mask_path(images.paths[row])) as mask:
            grey = mask.convert("L").resize((size, size), Image.Resampling.NEAREST)
            masks[row] = np.asarray(grey) > 127
    return masks


def mask_path(photo: Path) -> Path:
    """Where the mask of a photo lies: beside it, or among MVTec's ground truth.

    Examples
    --------
    >>> mask_path(Path("MT_Crack/Imgs/exp1.jpg")).as_posix()
    'MT_Crack/Imgs/exp1.png'
    >>> mask_path(Path("bottle/test/broken/000.png")).as_posix()
    'bottle/ground_truth/broken/000_mask.png'
    """
    kind = photo.parent
    if kind.parent.name != "test":
        return photo.with_suffix(".png")
    return kind.parents[1] / "ground_truth" / kind.name / f"{photo.stem}_mask.png"


if __name__ == "__main__":
    main()
