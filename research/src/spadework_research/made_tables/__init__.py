"""Made tables: rows, types of anomalies, and labels that do not look like the rest."""
