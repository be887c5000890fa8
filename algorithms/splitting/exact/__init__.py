"""Exact solutions of the splitting problem, and the integer programs of the paper as policies."""
