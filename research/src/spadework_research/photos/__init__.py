"""Baselines for photos, on the network of the paper."""
