"""Training of the in-context model on made tables: train, resume, evaluate, publish."""
