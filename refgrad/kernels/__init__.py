"""NumPy and SciPy code too long for the table of an op family."""
