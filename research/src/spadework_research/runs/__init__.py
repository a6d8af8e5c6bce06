"""Methods, tables of comparisons, and the runs that fill them."""
