"""One cycle, step by step: search, verdict, score, and the decision with all that was looked at."""
