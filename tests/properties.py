"""How many examples a property test draws."""

from hypothesis import settings


def examples(n: int) -> settings:
    """Draw n examples, and ten times as many under the profile "explore"."""
    return settings(max_examples=n * settings.default.max_examples // 100)
