"""Property tests draw the same examples each time; ``make explore`` draws others."""

from importlib.util import find_spec

from hypothesis import settings

settings.register_profile("gate", derandomize=True, deadline=None, max_examples=50)
settings.register_profile(
    "explore", max_examples=10 * 100, deadline=None, print_blob=True
)
settings.load_profile("gate")

collect_ignore = (
    []
    if find_spec("triton")
    else ["research/src/spadework_research/pretraining/kernels.py"]
)
