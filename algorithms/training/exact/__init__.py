"""Optima and certified intervals, with the brute force that they are held to."""
