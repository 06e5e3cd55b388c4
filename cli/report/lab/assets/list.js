// A long list of which only the rows in view are in the page: searched, sorted, chosen by pointer or keys.
import { cut } from "./tip.js";
const { make, format } = kubeclassic;

const ROW = 31, AROUND = 12;

export class List {
  /** *columns*: {title, value(row), text(row)?, number?}; *pick* is told a row's own value. A number's column is as wide as its longest. */
  constructor(name, columns, pick) {
    this.columns = columns;
    this.pick = pick;
    this.rows = [];
    this.sorted = null;
    this.word = "";
    this.search = make("input", { type: "search", oninput: () => { this.word = this.search.value.toLowerCase(); this.choose(); } });
    this.count = make("p", { class: "soft count", "aria-live": "polite" });
    this.heads = columns.map((column, at) => {
      const head = make("th", { scope: "col", class: column.number ? "n" : null }, make("button", { type: "button", onclick: () => this.sort(at) }, column.title));
      return head;
    });
    this.body = make("tbody", {});
    this.table = make("table", { class: "labrows", "aria-label": name }, make("thead", {}, make("tr", {}, this.heads)), this.body);
    this.scroll = make("div", { class: "scroll listed", tabindex: 0, role: "region", "aria-label": `${name}, rows`, onscroll: () => this.draw() }, this.table);
    this.root = make("div", { class: "list" }, make("div", { class: "bar" }, make("label", { class: "search" }, `Search ${name.toLowerCase()}`, this.search)), this.scroll, this.count);
  }

  show(rows, note = "") {
    this.rows = rows;
    this.note = note;
    let numbers = 0;
    this.columns.forEach((column, at) => {
      if (!column.number) return;
      const longest = rows.reduce((most, row) => Math.max(most, String(column.text ? column.text(row) : column.value(row)).length), column.title.length + 3);
      this.heads[at].style.width = `${longest + 2}ch`;
      numbers += longest + 2;
    });
    this.table.style.minWidth = `${numbers + 15 * this.columns.filter((column) => !column.number).length}ch`;
    this.choose();
  }

  choose() {
    const text = (row) => this.columns.map((column) => String(column.text ? column.text(row) : column.value(row))).join(" ").toLowerCase();
    this.found = this.word ? this.rows.filter((row) => text(row).includes(this.word)) : [...this.rows];
    if (this.sorted) {
      const { at, turn } = this.sorted, { value } = this.columns[at];
      this.found.sort((a, b) => { const [x, y] = [value(a), value(b)]; return x < y ? -turn : x > y ? turn : 0; });
    }
    const all = this.rows.length, shown = this.found.length;
    this.count.textContent = (all === shown ? `${format.count(all)} rows` : `${format.count(shown)} of ${format.count(all)} rows`) + (this.note ? `. ${this.note}` : "");
    this.scroll.scrollTop = Math.min(this.scroll.scrollTop, Math.max(shown * ROW - 100, 0));
    this.drawn = null;
    this.draw();
  }

  sort(at) {
    this.sorted = this.sorted?.at === at ? (this.sorted.turn > 0 ? { at, turn: -1 } : null) : { at, turn: 1 };
    this.heads.forEach((head, one) => {
      if (this.sorted?.at === one) head.setAttribute("aria-sort", this.sorted.turn > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    this.choose();
  }

  draw() {
    if (!this.found) return;
    const first = Math.max(Math.floor(this.scroll.scrollTop / ROW) - AROUND, 0), last = Math.min(first + Math.ceil(420 / ROW) + 2 * AROUND, this.found.length);
    if (this.drawn === `${first} ${last}`) return;
    this.drawn = `${first} ${last}`;
    const space = (rows) => make("tr", { class: "spacer", "aria-hidden": "true" }, (() => {
      const cell = make("td", { colspan: this.columns.length });
      cell.style.height = `${rows * ROW}px`;
      return cell;
    })());
    this.body.replaceChildren(space(first), ...this.found.slice(first, last).map((row) => this.line(row)), space(this.found.length - last));
    cut(this.body);
  }

  line(row) {
    const cells = this.columns.map((column, at) => {
      const text = String(column.text ? column.text(row) : column.value(row));
      if (column.number) return make("td", { class: "n" }, text);
      return make("td", {}, at === 0 ? make("button", { type: "button", class: "link", "data-full": text, onclick: () => this.pick(row) }, text || "-") : make("span", { "data-full": text }, text));
    });
    return make("tr", { class: "row" }, cells);
  }
}
