"use strict";
// What all scripts of a page share, and the button for light and dark.
const kubeclassic = (() => {
  const THEME = "kubeclassic-theme";

  /** An element with children and attributes; a child is a node or a text. */
  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  }

  /** An element in a colour of the page. */
  function coloured(tag, colour, attributes, ...children) {
    const made = make(tag, attributes, ...children);
    made.style.setProperty("--k", colour);
    return made;
  }

  /** Puts choices, pairs of a value and a text, into a select, keeping it quiet where nothing changed. */
  function options(select, pairs, now) {
    const key = JSON.stringify(pairs);
    if (select.dataset.key !== key) {
      select.replaceChildren(...pairs.map(([value, text]) => make("option", { value }, text)));
      select.dataset.key = key;
    }
    select.value = now;
  }

  /** The data of a part; long ones are packed. */
  async function dataOf(id) {
    const data = JSON.parse(document.getElementById(`${id}-data`).textContent);
    if (data.packed === undefined) return data;
    const bytes = Uint8Array.from(atob(data.packed), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(unpacked).json();
  }

  /** Each part of a kind gets its data; *made* is asked for an object for it. When all are done the page is marked with data-ready. */
  const starting = [];
  function start(kind, selector, made) {
    kubeclassic[kind] = {};
    starting.push(...[...document.querySelectorAll(selector)].map(async (root) => {
      kubeclassic[kind][root.id] = made(root, await dataOf(root.id));
    }));
  }

  function remembered() {
    try { return localStorage.getItem(THEME); } catch { return null; } // a page from a file may have no storage
  }

  function remember(theme) {
    try { localStorage.setItem(THEME, theme); } catch { /* then it holds until the page is closed */ }
  }

  function setUpTheme() {
    const button = document.getElementById("theme");
    if (!button) return;
    const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    const kept = remembered();
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      label();
    });
    system.addEventListener("change", label);
    label();
  }

  /** What is folded shows on paper, but what says the same once more. */
  function setUpPrint() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open], .unprinted)")];
      for (const one of opened) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  }

  setUpTheme();
  setUpPrint();
  addEventListener("DOMContentLoaded", async () => {
    await Promise.all(starting);
    document.documentElement.dataset.ready = "yes";
  });
  return { make, coloured, options, start, details: {} };
})();
