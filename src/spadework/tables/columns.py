"""One column of a table as numbers: how it is encoded, kept as plain data.

Each kind of column is fitted once and holds nothing but names and numbers. It turns an
Arrow array into one or more features, the same whenever and wherever rows are scored.
"""

from spadework.tables.category_column import CategoryColumn
from spadework.tables.features import MISSING, Features
from spadework.tables.number_column import NumberColumn
from spadework.tables.time_columns import DateColumn, TimeColumn

__all__ = [
    "MISSING",
    "CategoryColumn",
    "Column",
    "DateColumn",
    "Features",
    "NumberColumn",
    "TimeColumn",
]

Column = NumberColumn | CategoryColumn | DateColumn | TimeColumn
