"""How many examples a property test draws."""

from hypothesis import settings


def examples(n: int) -> settings:
    """Draw n examples by default, half as many in a gate and ten times in "explore"."""
    return settings(max_examples=n * settings.default.max_examples // 100)
