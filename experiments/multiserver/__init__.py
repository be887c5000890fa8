"""Experiments on the multiserver problem."""
