"""The in-context model: scores rows of any table in the context of its few labels."""
