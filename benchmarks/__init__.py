"""Speed only: ratios measured in one run, written to ``benchmarks/speed.json``."""
