"""Algorithms for the dispatch problem: PRB, the hybrid, FCFS and EASY."""

from __future__ import annotations

from algorithms.policy import Policy

__all__ = ["POLICIES"]

POLICIES: dict[str, Policy] = {}
