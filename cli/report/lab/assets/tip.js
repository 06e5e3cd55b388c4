// Texts that are too long for their place: cut in the middle, and whole in a tip where the pointer or the focus is.
const { make } = kubeclassic;

const pen = document.createElement("canvas").getContext("2d"), tip = make("div", { class: "tip", role: "tooltip", hidden: true });

/** A rule's name, which may go on in the next line where one of its words begins. */
export const parted = (name) => name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));

/** *text* without its middle, as far as *room*, in pixels, wants it. */
function shortened(text, room) {
  if (pen.measureText(text).width <= room) return text;
  let low = 2, high = text.length;
  const made = (kept) => `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
  while (low < high) { const middle = (low + high + 1) >> 1; if (pen.measureText(made(middle)).width <= room) low = middle; else high = middle - 1; }
  return made(low);
}

/** Cuts the texts in *place* that stand in [data-full], for the width that each has now. */
export function cut(place) {
  const found = [...place.querySelectorAll("[data-full]")], rooms = found.map((one) => one.parentElement.clientWidth - 14);
  if (found.length) pen.font = getComputedStyle(found[0]).font;
  found.forEach((one, at) => {
    if (rooms[at] <= 0) return;
    const { full } = one.dataset, text = shortened(full, rooms[at]) || "-";
    if (one.textContent !== text) one.textContent = text;
    if (text !== full && full) one.setAttribute("aria-label", full); else one.removeAttribute("aria-label");
  });
}

function show(event) {
  const row = event.target.closest?.("tr.row"), one = event.target.closest?.("[data-full]");
  const cuts = event.type === "focusin" && row ? [...row.querySelectorAll("[data-full]")] : one ? [one] : [];
  const texts = cuts.filter((each) => each.textContent !== each.dataset.full && each.dataset.full).map((each) => each.dataset.full);
  tip.hidden = !texts.length;
  if (!texts.length) return;
  tip.replaceChildren(...texts.map((text) => make("div", {}, text)));
  const box = (one ?? row).getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - 440))}px`;
  tip.style.top = `${box.bottom + 4 + scrollY}px`;
}

document.body.append(tip);
document.addEventListener("pointerover", show);
document.addEventListener("focusin", show);
document.addEventListener("focusout", () => { tip.hidden = true; });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
