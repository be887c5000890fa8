"""A declared grid, rows in a results store, a figure and a verdict; the command line."""
