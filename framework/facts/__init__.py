"""What each release does otherwise than the one before it, as data: one entry a fact. Tables say it in cells;
facts say it to people."""
