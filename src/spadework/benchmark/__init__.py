"""Every comparison of the paper: data sets, scenarios, runs, tables."""
