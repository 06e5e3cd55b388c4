// The theme's search is a dialog without a name, which readers of screens need.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
