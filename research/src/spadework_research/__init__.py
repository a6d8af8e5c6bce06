"""What the paper is held against: data sets, baselines, runs, tables and figures.

It knows the library, which knows nothing of it.
"""
