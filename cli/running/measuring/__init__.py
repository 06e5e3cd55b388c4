"""What ``bench`` runs."""
