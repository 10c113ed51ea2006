// Notes about an account, and what operators did: pieces of several pages.

import { act, may, mayView, say, view } from "./api.js";
import { fillTable, make, name } from "./elements.js";

/**
 * @typedef {{ moment: string, who: string, way: string, command: string, subject: string,
 *   before: string, after: string, reason: string, result: string, ok: boolean }} Act
 * @typedef {{ number: number, moment: string, who: string, text: string }} Note
 */

export const TITLES = ["Time (UTC)", "Operator", "Command", "Changed", "Before", "After", "Reason", "Result"];

/** @param {Act} one @returns {import("./elements.js").Cell[]} */
const cells = (one) => [
  [one.moment.slice(0, 19).replace("T", " "), "time"], name(`${one.who} (${one.way})`), one.command,
  name(one.subject), name(one.before), name(one.after), name(one.reason),
  one.ok ? name(one.result) : [name(`refused: ${one.result}`), "bad"],
];

/**
 * Show the acts about some subjects, the newest first; an empty subject stands for all.
 * @param {HTMLElement} body
 * @param {string[]} subjects
 */
export async function showActs(body, subjects) {
  const answers = mayView("audit") ? await Promise.all(subjects.map((subject) => view("audit", { subject }))) : [];
  /** @type {Act[]} */
  const found = answers.flatMap((answer) => (answer.ok ? answer.data : []));
  found.sort((a, b) => b.moment.localeCompare(a.moment));
  const keys = new Map(found.map((one, at) => [one, at]));
  fillTable(body, found, (one) => `${found.length - (keys.get(one) ?? 0)}`, cells,
    mayView("audit") ? "The audit has no such act." : "Your rank is too low for the audit.");
}

/**
 * Make the notes about an account, with a form for a new one; `account` returns its name.
 * @param {() => string} account
 */
export function noteList(account) {
  const notes = make("ul", { class: "notes" });
  const text = make("input", { id: "note-text", name: "text", maxlength: 500, autocomplete: "off", required: "" });
  const form = make("form", {}, make("label", {}, "New note, for operators only ", text),
    make("button", {}, "Add the note"));
  form.hidden = !may("note");
  async function show() {
    if (!account() || !mayView("notes")) return;
    const found = await view("notes", { account: account() });
    if (!found.ok) return say(found.text, false);
    notes.replaceChildren(...found.data.map(item));
    if (!found.data.length) notes.append(make("li", { class: "empty" }, "No operator has written a note."));
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!await act("note", { account: account(), text: text.value })) return;
    text.value = "";
    show();
  });
  notes.addEventListener("click", async (event) => {
    const number = /** @type {HTMLElement} */ (event.target).dataset.note;
    if (number && await act("unnote", { number })) show();
  });
  return { box: make("section", {}, make("h3", {}, "Notes"), notes, form), show };
}

/** @param {Note} one */
function item(one) {
  const made = make("li", {}, make("span", { class: "time" }, `${one.moment.slice(0, 16).replace("T", " ")} `),
    name(`${one.who}: ${one.text}`), " ");
  if (may("unnote")) {
    made.append(make("button", { type: "button", "data-note": one.number, "aria-label": `Remove note ${one.number}` },
      "Remove"));
  }
  return made;
}
