"""Names for the kinds of arrays that functions take and give."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = Singles
Labels = NDArray[np.int8]
Positions = NDArray[np.intp]
Flags = NDArray[np.bool_]
Marks = NDArray[np.uint64]
Pixels = NDArray[np.uint8]
