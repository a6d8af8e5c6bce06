"""Photos as a table whose truth is known: their pixels, and what tells easy ones."""

from spadework.images.features import pooled_features
from spadework.images.reading import read_photos
from spadework.scenarios import LabeledTable
from spadework_research.datasets.photo_sets import LabeledImages

TRAIN_SHARE = 0.8
"""Of the paper's split of photos."""


def read_table(images: LabeledImages) -> LabeledTable:
    """Read photos as squares of pixels, (n_photos, 256, 256, 3).

    The paper does not say what the logistic regression that picks easy photos sees of
    them; here it is the features of a pretrained network, pooled over each photo.
    """
    pixels = read_photos(images.paths).pixels
    return LabeledTable(
        pixels,
        images.kind,
        images.given,
        train_share=TRAIN_SHARE,
        judged_by=pooled_features(pixels),
    )
