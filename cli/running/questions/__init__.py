"""The questions behind: what fits, which nodes would help, which can go, what would help a pod."""
