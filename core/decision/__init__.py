"""The steps of a cycle (search, verdict, extenders, score, tie-break), and the decision with its details."""
