"use strict";
// Values as the page shows them; cli/report/page/tables.py writes the same before scripts run.
kubeclassic.format = (() => {
  const { make, coloured } = kubeclassic;
  const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 20 });
  const FIXED = [0, 1, 2, 3].map((places) => new Intl.NumberFormat("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }));
  const count = (value) => WHOLE.format(value);
  const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
  const fixed = (value, places) => FIXED[places].format(value);
  const share = (value) => (value >= 0 && value < 10000 ? `${(100 * value).toFixed(1)} %` : "overflow");
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

  function cores(value) {
    const text = fixed(value / 1000, Math.abs(value) >= 10000 ? 2 : 3);
    return text.replace(/0+$/, "").replace(/\.$/, "");
  }

  function bytes(value) {
    let size = value, unit = 0;
    while (Math.abs(Math.round(size * 10) / 10) >= 1024 && unit < UNITS.length - 1) { size /= 1024; unit += 1; }
    if (unit) return `${fixed(size, 1)} ${UNITS[unit]}`;
    return value ? `${count(value)} B` : "0";
  }

  const WRITTEN = { share, cores, bytes, count, decimal: (value) => fixed(value, 3), seconds: (value) => `${fixed(value, 1)} s` };
  const NUMBERS = new Set(Object.keys(WRITTEN));
  const empty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length);

  /** A value as text, for searching and measuring. */
  function text(kind, value) {
    if (empty(value)) return "";
    if (Array.isArray(value)) return value.join(", ");
    return WRITTEN[kind] ? WRITTEN[kind](value) : String(value);
  }

  /** A name, which tables do not break if it is short: cli/report/page/document.py has the same. */
  const named = (word) => make("span", { class: word.length <= (word.includes(" ") ? 14 : 36) ? "name whole" : "name" }, word);

  /** A value as nodes of the page. */
  function shown(column, value) {
    if (empty(value)) return ["-"];
    const words = Array.isArray(value) ? value : [value];
    const colour = (word) => (column.colours && column.colours[word]) || "var(--same)";
    if (column.kind === "tag" || column.kind === "tags") return spaced(words.map((word) => coloured("span", colour(word), { class: "tag" }, word)), " ");
    if (column.kind === "name" || column.kind === "names") return spaced(words.map(named), ", ");
    return [text(column.kind, value)];
  }

  const spaced = (parts, between) => parts.flatMap((part, at) => (at ? [between, part] : [part]));

  return { count, counted, share, cores, bytes, text, shown, empty, isNumber: (kind) => NUMBERS.has(kind) };
})();
