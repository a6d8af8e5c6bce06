"""The paper's mathematics: pure functions on arrays, no I/O, no estimator API."""
