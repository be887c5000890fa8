"""The lines of training/theory: what each lemma or theorem promises, in our words."""

from __future__ import annotations

__all__ = ["RELATION_LINES", "SCALING_LINES", "STATEMENTS"]

STATEMENTS: dict[str, str] = {
    "lemma-1-cost": "Lemma 1 (G <= 1): the cost of a rounding exceeds 3G/delta times the LP's "
    "with probability at most delta/3.",
    "lemma-1-cover-printed": "Lemma 1 as printed: some cover row is at most a(1-eps)G with "
    "probability at most delta/3m.",
    "lemma-1-cover-union": "Lemma 1 with the union over the m rows: the same event has "
    "probability at most delta/3.",
    "lemma-1-packing": "Lemma 1, proof: some packing row is violated with probability at most "
    "delta/3.",
    "lemma-2-cost": "Lemma 2 (G > 1): the cost of a rounding exceeds 3G/delta times the LP's "
    "with probability at most delta/3.",
    "lemma-2-packing-printed": "Lemma 2 as printed: some packing row is above b(1+eps)G with "
    "probability at most delta/3r.",
    "lemma-2-packing-union": "Lemma 2 with the union over the r rows: the same event has "
    "probability at most delta/3.",
    "lemma-2-cover": "Lemma 2, proof: some cover row is violated with probability at most delta/3.",
    "papers-case": "The characterisation is useful for typical parameters, W_b = 15 and r = 401: "
    "a rounding by Lemma 1 meets all rows with a useful probability (taken as 1 %).",
    "theorem-3-cost": "Theorem 3: on slot programs the cost exceeds 3G/delta times the LP's with "
    "probability at most delta/3.",
    "theorem-3-cover": "Theorem 3: workers or PSs are at most W_1(1-eps)G with probability at most "
    "delta/3.",
    "theorem-3-packing": "Theorem 3, proof: some capacity is exceeded with probability at most "
    "delta/3.",
    "theorem-4-cost": "Theorem 4: on slot programs the cost exceeds 3G/delta times the LP's with "
    "probability at most delta/3.",
    "theorem-4-packing": "Theorem 4: some capacity is exceeded (1+eps)G times with probability at "
    "most delta/3.",
    "theorem-4-cover": "Theorem 4, proof: the cover is missed with probability at most delta/3.",
    "differential": "Appendix: the price satisfies p d(rho) >= C/eps dp with eps = ln(U/L).",
    "relation": "Appendix: p(before) times the amount taken is at least delta/3G C/eps times the "
    "price increase, in every slot, machine and resource that a job uses.",
    "job-step": "Appendix: every admission raises P by at least delta/(3G eps) times the "
    "increase of D.",
    "start-value": "Appendix: D_0, the value of all resources at price L, is at most OPT/2.",
    "prices-block": "A used-up resource costs U^r, which no job that needs it can pay.",
    "dual-feasible": "Algorithm 1's lambda (0 for rejected jobs) is feasible in the dual: no "
    "rejected job has a schedule of positive payoff at the final prices.",
    "weak-duality": "Appendix: the D that Algorithm 1 builds is at least OPT.",
    "certificate": "P <= OPT <= D with lambda computed on the empty cluster (ours).",
    "theorem-5-ratio": "Theorem 5 (G <= 1): OPT/P is at most 6G/delta max(1, ln U/L).",
    "theorem-5-feasible": "Theorem 5: in each of the T Q states (D4) one of S = 10 draws is "
    "feasible with probability at least 1 - (delta/3)^S.",
    "theorem-6-ratio": "Theorem 6 (G > 1): OPT/P is at most 6G/delta max(1, ln U/L).",
    "theorem-6-feasible": "Theorem 6: in each of the T Q states (D4) one of S = 10 draws is "
    "feasible with probability at least 1 - (delta/3(HR+1))^S.",
    "theorem-7-slots": "Theorem 7: the work grows at most linearly in T.",
    "theorem-7-machines": "Theorem 7: the work grows at most with H^3.",
    "theorem-7-levels": "Theorem 7: the work grows at most with the square of the states per slot "
    "(KE in the paper, Q with D4).",
}

RELATION_LINES = ("differential", "relation", "job-step")
SCALING_LINES = ("theorem-7-slots", "theorem-7-machines", "theorem-7-levels")
