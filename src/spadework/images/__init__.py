"""A user's pictures as they are: folders and files in, square colour pixels out."""
