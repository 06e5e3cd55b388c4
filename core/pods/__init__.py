"""Pods as rules see them: templates, requests, claims and affinity terms."""
