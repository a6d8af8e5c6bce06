"""Smaller measurements: other tables, constants, heat maps and speed."""
