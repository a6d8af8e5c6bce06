"""A user's table as it is: files, frames and queries in, a float matrix out."""
