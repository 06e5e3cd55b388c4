"""The pod that is scheduled, as rules see it: its template, what it requests, its claims, its affinity terms."""
