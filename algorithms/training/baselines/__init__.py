"""The five baselines of section 3: fifo, drf, dorm, oasis, optimus."""
