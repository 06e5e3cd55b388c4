"""Volumes for the claims of pods: their choice, their nodes, and the scheduler's assumptions."""
