"""How a problem is solved: each algorithm takes an instance, parameters and a seed."""
