"""SPADE for photos: folders and files in, square pixels, anomaly scores out."""
