"""The page of the lab: one HTML file, style sheets and scripts, served as they are."""
