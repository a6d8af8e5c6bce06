"""SPADE for photos: from pixels to anomaly scores."""
