"""Algorithms for the multiserver problem (arXiv 2305.06572)."""
