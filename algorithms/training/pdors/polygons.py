"""The polygon of workers and PSs that one machine can hold, by its corners; compiled."""

from __future__ import annotations

from algorithms.compiled import compiled

__all__ = ["SAME", "corners"]

SAME = 1e-12  # corners, or weights, closer than this are one


@compiled
def corners(alpha, beta, free, most_workers, most_ps, out_workers, out_ps):  # type: ignore[no-untyped-def]
    """Write the corners of one machine's polygon; returns how many.

    The first is the origin. At most resources + 5 are written.
    """
    widest, tallest = most_workers, most_ps
    for r in range(len(alpha)):
        room = max(free[r], 0.0)
        if alpha[r] > 0:
            widest = min(widest, room / alpha[r])
        if beta[r] > 0:
            tallest = min(tallest, room / beta[r])
    out_workers[0], out_ps[0] = 0.0, 0.0
    n = 1
    if widest > 0:
        out_workers[n], out_ps[n] = widest, 0.0
        n += 1
    if tallest > 0:
        out_workers[n], out_ps[n] = 0.0, tallest
        n += 1
    if widest <= 0 or tallest <= 0:
        return n
    # Walk along the upper right boundary, from line to ever steeper line.
    w, last_s, height, slope = 0.0, tallest, tallest, 0.0
    while True:
        best, best_w, best_height, best_slope = -1, widest, 0.0, 0.0
        for r in range(len(alpha)):
            if alpha[r] <= 0 or beta[r] <= 0:
                continue
            line_height, line_slope = max(free[r], 0.0) / beta[r], alpha[r] / beta[r]
            # A line that does not cut the box is none (also where it is not a number).
            if not (line_height - line_slope * widest < tallest) or line_slope <= slope:
                continue
            meets = max((line_height - height) / (line_slope - slope), w)
            if meets < best_w or (meets == best_w and best >= 0 and line_slope > best_slope):
                best, best_w, best_height, best_slope = r, meets, line_height, line_slope
        if best < 0:
            break
        s = max(height - slope * best_w, 0.0)
        if best_w - w > SAME * (1.0 + w) or last_s - s > SAME * (1.0 + s):
            out_workers[n], out_ps[n] = best_w, s
            n += 1
            w, last_s = best_w, s
        height, slope = best_height, best_slope
    s = max(height - slope * widest, 0.0)
    if s > SAME and (widest - w > SAME * (1.0 + w) or last_s - s > SAME * (1.0 + s)):
        out_workers[n], out_ps[n] = widest, s
        n += 1
    return n
