"""Which of the details that the paper leaves open decide its numbers."""
