"""`pdors-plus`, ours: the information of PD-ORS, whole workers and prices from the past."""
