// The page of the log: search, older lines from the file, and new lines as they come.

import { currentUser, mayView, view } from "./api.js";
import { make } from "./elements.js";
import { address } from "./links.js";
import { dateTime, plural } from "./texts.js";

const LEVELS = ["debug", "info", "warn", "error"];
const MOST = 5000; // lines that are kept on the page

/** @typedef {{ moment: number, level: string, area: string, text: string, details?: string }} Line */

// Who a line is about: a player, or an account that has logged in.
/** @type {[RegExp, string][]} */
const SUBJECTS = [
  [/^(?:login of|logout of) ([\w-]+)/, "account"],
  [/^([A-Z][a-z]{1,14}) (?:entered|left|is |has |from \S+,? (?:client \d+, )?(?:entered|left))/, "player"],
];

/**
 * Return the text of a line with links to the players in it.
 * @param {string} text
 * @param {Set<string>} players who are in the world
 * @returns {(Node | string)[]}
 */
export function linkedText(text, players) {
  for (const [pattern, page] of SUBJECTS) {
    const found = pattern.exec(text);
    if (!found) continue;
    const at = text.indexOf(found[1]);
    return [text.slice(0, at), linkTo(page, found[1]), ...linkedText(text.slice(at + found[1].length), players)];
  }
  return text.split(/\b([A-Z][a-z]{1,14})\b/).filter(Boolean)
    .map((part) => players.has(part) ? linkTo("player", part) : part);
}

/** @param {string} page @param {string} who */
const linkTo = (page, who) => make("a", { href: address(page, who) }, who);

/** @param {string} label @param {HTMLElement} box */
const labelled = (label, box) => make("label", {}, `${label} `, box);

class LogPage {
  /** @param {HTMLElement} root @param {string} word @param {string} level */
  constructor(root, word, level) {
    this.word = make("input", { type: "search", id: "log-word", maxlength: 200, autocomplete: "off",
      spellcheck: "false", value: word });
    this.level = make("select", { id: "log-level" }, ...LEVELS.map((one) => make("option", { value: one }, one)));
    this.level.value = LEVELS.includes(level) ? level : "info";
    this.area = make("input", { id: "log-area", maxlength: 40, autocomplete: "off", spellcheck: "false",
      pattern: "[a-z_]*", list: "log-areas", placeholder: "all" });
    this.since = make("input", { type: "datetime-local", id: "log-since" });
    this.until = make("input", { type: "datetime-local", id: "log-until" });
    this.follow = make("input", { type: "checkbox", id: "log-follow", checked: "" });
    this.areas = make("datalist", { id: "log-areas" });
    this.older = make("button", { type: "button", id: "log-older" }, "Older lines");
    this.count = make("p", { class: "note", role: "status" });
    this.list = make("ol", { class: "lines" });
    this.box = make("div", { class: "scroll log tall", tabindex: 0, role: "group", "aria-label": "Lines of the log" },
      this.list);
    /** @type {Set<string>} */
    this.players = new Set();
    this.next = "";
    this.total = 0;
    const form = make("form", { role: "search" }, labelled("Text", this.word), labelled("Level", this.level),
      labelled("Area", this.area), labelled("From (UTC)", this.since), labelled("To (UTC)", this.until),
      make("button", {}, "Search"), labelled("Follow", this.follow), this.areas);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.search();
    });
    this.older.addEventListener("click", () => this.load(this.next));
    this.follow.addEventListener("change", () => this.follow.checked && this.search());
    root.append(make("h2", {}, "Log"), make("section", {}, form),
      make("section", {}, make("p", { class: "acts" }, this.older), this.count, this.box));
  }

  async search() {
    this.list.replaceChildren();
    this.total = 0;
    await this.load("end");
    this.box.scrollTop = this.box.scrollHeight;
  }

  // Put older lines before those that are shown; what is read stays where it is.
  /** @param {string} before */
  async load(before) {
    const fields = { level: this.level.value, area: this.area.value.trim(), since: this.since.value,
      until: this.until.value, before, word: this.word.value.trim() };
    this.older.disabled = true;
    const answer = await view("log", fields);
    if (!answer.ok) {
      this.count.className = "bad";
      this.count.textContent = answer.text;
      return;
    }
    const { lines, next, has_file: hasFile } = answer.data;
    const height = this.box.scrollHeight;
    this.list.prepend(...lines.map((/** @type {Line} */ line) => this.item(line)));
    this.box.scrollTop += this.box.scrollHeight - height;
    this.total += lines.length;
    this.next = next;
    this.older.hidden = !next;
    this.older.disabled = this.total >= MOST;
    this.show(hasFile);
  }

  /** @param {boolean} hasFile */
  show(hasFile) {
    this.count.className = "note";
    this.count.textContent = `${plural(this.total, "line")}.`
      + (this.total >= MOST ? " Narrow the search for older ones." : this.next ? " There may be older ones." : "")
      + (hasFile ? "" : " The log is not written to a file, so only the last lines are known.");
    this.hasFile = hasFile;
  }

  /** @param {Line} line */
  item(line) {
    if (!this.areas.querySelector(`option[value="${CSS.escape(line.area)}"]`) && /^[a-z_]+$/.test(line.area)) {
      this.areas.append(make("option", { value: line.area }));
    }
    const text = make("bdi", {}, ...linkedText(line.text, this.players));
    const made = make("li", LEVELS.indexOf(line.level) === 1 ? {} : { class: line.level === "debug" ? "note" : "bad" },
      make("time", {}, dateTime(line.moment)), " ", make("b", {}, line.area), " ", text);
    if (line.details) made.append(make("details", {}, make("summary", {}, "Traceback"), make("pre", {}, line.details)));
    return made;
  }

  // A new line; the same filter as on the server decides whether it is shown.
  /** @param {Line} line */
  line(line) {
    const word = this.word.value.trim().toLowerCase(), area = this.area.value.trim();
    if (!this.follow.checked || this.until.value || !line.text.toLowerCase().includes(word)
      || LEVELS.indexOf(line.level) < LEVELS.indexOf(this.level.value)
      || (area && line.area.split(/[/.]/)[0] !== area)) return;
    const isAtEnd = this.box.scrollTop + this.box.clientHeight >= this.box.scrollHeight - 8;
    this.list.append(this.item(line));
    this.total += 1;
    while (this.list.children.length > MOST) {
      this.list.firstChild?.remove();
      this.total -= 1;
    }
    this.show(this.hasFile ?? true);
    if (isAtEnd) this.box.scrollTop = this.box.scrollHeight;
  }

  /** @param {import("./app.js").State} state */
  update(state) {
    this.players = new Set(state.players.map((one) => one.name));
  }
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const page = new LogPage(root, words[0] ?? "", words[1] ?? "");
  if (currentUser() && mayView("log")) await page.search();
  return { line: (line) => page.line(line), update: (state) => page.update(state) };
}
