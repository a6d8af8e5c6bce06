"""The errors spadework raises, each also a built-in that people already catch."""


class SpadeworkError(Exception):
    """Base of every error that spadework raises on purpose."""


class InputError(SpadeworkError, ValueError):
    """The data or a parameter cannot be used; the message says what to do."""


class LabelError(InputError):
    """The labels are unknown, ambiguous or impossible."""


class ModelFileError(SpadeworkError, ValueError):
    """A model cannot be written as plain data, or a file is not a whole model."""


class ExportError(SpadeworkError, ValueError):
    """A model cannot be exported, or its exported form does not score as it does."""


class DataError(SpadeworkError, OSError):
    """A data file is missing, cut off or not the original one."""
