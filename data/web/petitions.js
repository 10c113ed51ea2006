// The page of petitions and reports of players: their state, the answer, and a field for it.

import { act, may, view } from "./api.js";
import { fillTable, make, makeTable, name } from "./elements.js";
import { address, showPetitionCount } from "./links.js";
import { dateTime } from "./texts.js";

const COUNT_AGAIN = 30000;

/**
 * @typedef {{ id: number, kind: string, player: string, place: string, text: string, opened: number,
 *   answer: string, operator: string, answered: number | null, closed: number | null }} Petition
 */

/** @param {Petition} one */
function state(one) {
  if (one.closed !== null) return `closed ${dateTime(one.closed)}`;
  return one.answered === null ? "open" : `answered ${dateTime(one.answered)}`;
}

class PetitionsPage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.title = make("h2", { id: "petitions-title" }, "Petitions of players");
    this.which = make("select", { id: "petitions-which" }, make("option", { value: "open" }, "open"),
      make("option", { value: "closed" }, "closed"));
    this.list = makeTable("Petitions", ["#Number", "Time (UTC)", "Player", "Place", "Text", "State", "Answer"]);
    this.list.body.id = "petition-list";
    this.list.box.classList.add("tall", "stacked");
    const form = make("form", {}, make("label", {}, "Petitions that are ", this.which));
    root.append(this.title, make("section", {}, form, this.list.box));
    form.addEventListener("submit", (event) => event.preventDefault());
    this.which.addEventListener("change", () => this.show());
    this.timer = setInterval(() => this.isBusy() || this.show(), COUNT_AGAIN);
  }

  // A row with a begun answer must not be replaced.
  isBusy() {
    return document.hidden || this.list.body.contains(document.activeElement);
  }

  async show() {
    const which = this.which.value, answer = await view("petitions", { which });
    const rows = answer.ok ? answer.data : [];
    this.title.textContent = `Petitions of players (${rows.length} ${which})`;
    if (which === "open") showPetitionCount(rows.length);
    fillTable(this.list.body, rows, (/** @type {Petition} */ one) => one.id, (one) => this.cells(one),
      answer.ok ? `There is no ${which} petition.` : answer.text);
  }

  /** @param {Petition} one @returns {import("./elements.js").Cell[]} */
  cells(one) {
    const player = make("a", { href: address("player", one.player) }, name(one.player));
    const isOpen = one.closed === null && may("answer");
    return [
      [one.id, "number"], [dateTime(one.opened), "time"], player, name(one.place), name(`${one.kind}: ${one.text}`),
      state(one), isOpen ? this.form(one) : name(one.answer && `${one.operator}: ${one.answer}`),
    ];
  }

  /** @param {Petition} one */
  form(one) {
    const text = make("input", { name: "text", maxlength: 500, required: "", value: one.answer,
      "aria-label": `Answer to petition ${one.id}` });
    const close = make("button", { type: "button", "aria-label": `Close petition ${one.id}` }, "Close");
    const form = make("form", {}, text, make("button", { "aria-label": `Answer petition ${one.id}` }, "Answer"), close);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (await act("answer", { petition: one.id, text: text.value })) this.show();
    });
    close.addEventListener("click", async () => {
      if (await act("close", { petition: one.id })) this.show();
    });
    return form;
  }

  close() {
    clearInterval(this.timer);
  }
}

/** @type {import("./pages.js").Open} */
export async function open(root) {
  const page = new PetitionsPage(root);
  await page.show();
  return {
    // The line of the log about a new petition comes at once.
    line: (line) => { if (/petition/i.test(line.text) && !page.isBusy()) page.show(); },
    close: () => page.close(),
  };
}

