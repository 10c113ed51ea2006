// The content browser: search by name or number, and the rows of one subject, linked to each other.

import { mayView, view } from "./api.js";
import { fillTable, make, makeTable, name } from "./elements.js";
import { address } from "./links.js";
import { plural } from "./texts.js";
import { faultLine } from "./zone.js";

const SUBJECTS = [
  "all", "zone", "spawn", "item", "quest", "spell", "merchant", "loot", "recipe", "collection", "achievement", "faction",
  "area", "transporter", "harvest", "flight", "home", "opportunity", "skill", "title", "language", "command",
];

/**
 * @typedef {{ column: string, text: string, name?: string, subject?: string, number?: number }} Cell
 * @typedef {{ table: string, rows: Cell[][], has_more: boolean }} Section
 * @typedef {{ subject: string, number: number, name: string }} Found
 */

/** @param {Cell} cell */
function linked(cell) {
  if (cell.column === "script") return make("a", { href: address("source", cell.text) }, name(cell.text));
  const text = name(cell.name ? `${cell.name} (${cell.text})` : cell.text);
  return cell.subject ? make("a", { href: address("content", cell.subject, String(cell.number)) }, text) : text;
}

/** @param {Cell[]} row */
const list = (row) => make("dl", {}, ...row.map((cell) => make("div", {}, make("dt", {}, cell.column),
  make("dd", {}, linked(cell)))));

// The rows of one table: their own names and values, or a table for several.
/** @param {Section} section */
function piece(section) {
  const title = make("h3", {}, section.table.replaceAll("_", " "));
  const more = section.has_more ? [make("p", { class: "note" }, "and more")] : [];
  if (section.rows.length === 1) return make("section", {}, title, list(section.rows[0]));
  const columns = [...new Set(section.rows.flatMap((row) => row.map((cell) => cell.column)))];
  const { box, body } = makeTable(section.table, columns);
  fillTable(body, section.rows, (row) => JSON.stringify(row), (row) => columns.map((column) => {
    const cell = row.find((one) => one.column === column);
    return cell ? linked(cell) : "";
  }), "no rows");
  return make("section", { class: "whole" }, title, box, ...more);
}

/** @param {string} subject @param {string} word */
function searchForm(subject, word) {
  const what = make("select", { id: "content-subject" }, ...SUBJECTS.map((one) => make("option", { value: one }, one)));
  what.value = SUBJECTS.includes(subject) ? subject : "all";
  const text = make("input", { type: "search", id: "content-word", required: "", maxlength: 100, autocomplete: "off",
    spellcheck: "false", value: word });
  const form = make("form", { role: "search" }, make("label", {}, "Search in ", what),
    make("label", {}, "Name or number ", text), make("button", {}, "Search"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = address("content", "find", what.value, text.value.trim());
  });
  return make("section", {}, form);
}

/** @param {HTMLElement} root @param {string} subject @param {string} word */
async function showFound(root, subject, word) {
  const answer = await view("find", { subject, word });
  const rows = answer.ok ? answer.data : [];
  const found = makeTable("Found", ["Subject", "#Number", "Name"]);
  found.box.classList.add("tall");
  fillTable(found.body, rows, (/** @type {Found} */ one) => `${one.subject} ${one.number}`, (one) => [
    one.subject, [one.number, "number"],
    make("a", { href: address("content", one.subject, String(one.number)) }, name(one.name || "without a name")),
  ], answer.ok ? "Nothing has this in its name." : answer.text);
  root.append(make("section", {}, make("p", { class: "note", role: "status" }, `${rows.length} found.`), found.box));
}

/** @param {any} one @returns {HTMLElement[]} */
function spawnPieces(one) {
  const made = [];
  if (one.scripts.length) {
    made.push(make("section", {}, make("h3", {}, "Scripts"), make("ul", { class: "notes" },
      ...one.scripts.map((/** @type {any} */ script) => make("li", {}, `${script.kind} ${script.number}: `,
        make("a", { href: address("source", script.script) }, name(script.script)))),
      ...one.errors.map(faultLine))));
  }
  if (one.places.length) {
    const { box, body } = makeTable("Places", ["Zone", "#Placement", "#Weight"]);
    fillTable(body, one.places, (place) => `${place.placement}`, (place) => [
      make("a", { href: address("content", "zone", String(place.zone_id)) }, name(place.zone)),
      [place.placement, "number"], [place.weight, "number"],
    ], "");
    made.push(make("section", {}, make("h3", {}, "Stands in"), box));
  }
  if (one.spawns.length) {
    const { box, body } = makeTable("Spawns", ["Name", "#Number", "Kind"]);
    fillTable(body, one.spawns, (spawn) => spawn.number, (spawn) => [
      make("a", { href: address("content", "spawn", String(spawn.number)) }, name(spawn.name)),
      [spawn.number, "number"], spawn.kind,
    ], "");
    made.push(make("section", {}, make("h3", {}, `${plural(one.spawns.length, "spawn")} of the zone`), box));
  }
  return made;
}

/** @param {HTMLElement} root @param {string} subject @param {string} number */
async function showOne(root, subject, number) {
  const answer = await view("content", { subject, number });
  if (!answer.ok) {
    root.append(make("p", { class: "bad" }, answer.text));
    return;
  }
  const one = answer.data;
  for (const part of one.sections) { // without links to itself
    part.rows = part.rows.map((/** @type {Cell[]} */ row) => row.filter((cell) =>
      cell.subject !== subject || String(cell.number) !== number));
  }
  const map = subject === "zone" ? [make("p", {}, make("a", { href: address("zone", number) }, "Map of the running zone"))] : [];
  root.append(make("h2", {}, name(`${one.name || subject} (${subject} ${number})`)), ...map,
    make("div", { class: "pieces" }, ...one.sections.map(piece), ...spawnPieces(one)));
}

/** @param {HTMLElement} root */
async function showErrors(root) {
  if (!mayView("errors")) return;
  const answer = await view("errors");
  const rows = answer.ok ? answer.data.errors.map(faultLine) : [make("li", { class: "bad" }, answer.text)];
  if (!rows.length) rows.push(make("li", { class: "empty" }, "No script has failed."));
  root.append(make("section", {}, make("h3", {}, "Errors of scripts"), make("ul", { class: "notes" }, ...rows)));
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const [subject = "", word = ""] = words;
  if (subject === "find") {
    root.append(make("h2", {}, "Content"), searchForm(word, words[2] ?? ""));
    await showFound(root, word, words[2] ?? "");
  } else if (subject) {
    await showOne(root, subject, word);
    root.prepend(searchForm(subject, ""));
  } else {
    root.append(make("h2", {}, "Content"), searchForm("all", ""));
    await showErrors(root);
  }
  return {};
}
