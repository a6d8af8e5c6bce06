"""What SPADE is compared with: one small detector a file, all under its contract."""
