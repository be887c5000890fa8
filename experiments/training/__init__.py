"""Experiments on the training problem: instances, sweeps, figures, benchmarks."""
