"""Figures of the dispatch problem."""
