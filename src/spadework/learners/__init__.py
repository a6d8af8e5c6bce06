"""What learns from labels and weighted pseudo-labels: a forest or a network."""
