"""The report on a model: one HTML file for an analyst and a manager."""

from spadework.report.page import build_page, write_page

__all__ = ["build_page", "write_page"]
