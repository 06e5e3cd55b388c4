// A long list of which only the rows in view are in the page: searched, sorted, chosen by pointer or keys.
import { cut } from "./tip.js";
const { make, format } = kubeclassic;

const ROW = 31, AROUND = 12, LEAST = 15, pen = document.createElement("canvas").getContext("2d");

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
    this.fit();
    this.choose();
  }

  /** Gives columns their widths: numbers are whole, names as far as there is room, and what is empty gives way. */
  fit() {
    const widths = this.columns.map((column, at) => {
      const texts = this.rows.map((row) => this.text(column, row)), empty = at > 0 && texts.every((text) => ["", "-", "0"].includes(text));
      return empty && texts.length ? 0 : texts.reduce((most, text) => Math.max(most, text.length), column.title.length) + 2;
    });
    const sum = (wanted) => widths.reduce((all, width, at) => all + (Boolean(this.columns[at].number) === wanted ? width : 0), 0);
    pen.font = getComputedStyle(this.table).font;
    const room = (0.95 * this.scroll.clientWidth) / pen.measureText("0").width - sum(true), names = sum(false), last = widths.length - 1;
    if (names > room && widths[last] && !this.columns[last].number) widths[last] = Math.max(LEAST, Math.min(widths[last], room - names + widths[last]));
    const rest = sum(false);
    this.heads.forEach((head, at) => {
      const width = this.columns[at].number || rest <= room ? widths[at] : Math.min(widths[at], Math.max(LEAST, Math.floor((widths[at] * room) / rest)));
      head.style.width = `${width}ch`;
      head.hidden = !widths[at];
    });
    this.shown = this.heads.map((head) => !head.hidden);
    this.table.style.minWidth = `${this.heads.reduce((all, head) => all + (head.hidden ? 0 : parseInt(head.style.width, 10)), 0)}ch`;
  }

  text(column, row) { return String(column.text ? column.text(row) : column.value(row)); }

  choose() {
    const text = (row) => this.columns.map((column) => this.text(column, row)).join(" ").toLowerCase();
    this.found = this.word ? this.rows.filter((row) => text(row).includes(this.word)) : [...this.rows];
    if (this.sorted) {
      const { at, turn } = this.sorted, { value } = this.columns[at];
      this.found.sort((a, b) => { const [x, y] = [value(a), value(b)]; return x < y ? -turn : x > y ? turn : 0; });
    }
    const all = this.rows.length, shown = this.found.length;
    this.count.textContent = ((all === shown ? "" : `${format.count(shown)} of `) + format.counted(all, "row")) + (this.note ? `. ${this.note}` : "");
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
      const cell = make("td", { colspan: this.shown.filter(Boolean).length });
      cell.style.height = `${rows * ROW}px`;
      return cell;
    })());
    this.body.replaceChildren(space(first), ...this.found.slice(first, last).map((row) => this.line(row)), space(this.found.length - last));
    cut(this.body);
  }

  line(row) {
    const cells = this.columns.map((column, at) => {
      if (!this.shown[at]) return null;
      const text = this.text(column, row);
      if (column.number) return make("td", { class: "n" }, text);
      return make("td", {}, at === 0 ? make("button", { type: "button", class: "link", "data-full": text, onclick: () => this.pick(row) }, text || "-") : make("span", { "data-full": text }, text));
    });
    return make("tr", { class: "row" }, cells);
  }
}
