"""The route of one job behind given queues, eqs. (6)-(10): fast, exact, or by the paper's LP."""
