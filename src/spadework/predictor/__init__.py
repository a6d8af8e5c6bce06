"""Boosted symmetric trees that score rows, how they are trained, and why they say so."""
