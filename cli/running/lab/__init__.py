"""What ``kubeclassic lab`` does: a session, and the pages that look at it."""
