"""PD-ORS, the paper's algorithm: prices, slot programs, rounding, dynamic program."""
