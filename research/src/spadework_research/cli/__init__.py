"""What research adds to the command line: ``spadework bench`` and ``spadework data``."""
