"""The data that methods are compared on: original files, and which class is what."""
