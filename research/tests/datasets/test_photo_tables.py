"""Photos become pixels that are judged by features."""

import numpy as np
from PIL import Image

from spadework_research.datasets.photo_sets import LabeledImages
from spadework_research.datasets.photo_tables import read_table


def test_photos_become_pixels_that_are_judged_by_features(tmp_path):
    greys = (0, 128, 128)
    paths = tuple(tmp_path / f"{number}.png" for number in range(3))
    for path, grey in zip(paths, greys, strict=True):
        Image.new("L", (40, 30), grey).save(path)
    table = read_table(LabeledImages(paths, np.array([0, 1, 2]), given=(1,)))
    assert (table.X.shape, table.X.dtype) == ((3, 256, 256, 3), np.uint8)
    assert [int(np.median(photo)) for photo in table.X] == list(greys)
    assert table.judged_by.shape == (3, 4296)
    np.testing.assert_array_equal(table.judged_by[1], table.judged_by[2])
    assert (table.judged_by[0] != table.judged_by[1]).any()
    assert (table.kind.tolist(), table.given, table.train_share) == ([0, 1, 2], (1,), 0.8)
