"""The report: every result beside the paper's, as Markdown and as one HTML page.

The same results give the same bytes, so a report can be checked by making it again.
"""

from spadework_research.report.page import Report, build_report, write_report

__all__ = ["Report", "build_report", "write_report"]
