"""Experiments on the splitting problem: tables, instances, sweeps, figures, benchmarks."""
