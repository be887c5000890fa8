"""Exact optima and proved bounds of the dispatch problem."""
