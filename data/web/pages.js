// The pages behind the overview. An address is #/PAGE/WORDS, so that a link can be sent to others.

import { currentUser, mayView, view } from "./api.js";
import { find, make } from "./elements.js";
import { showPetitionCount } from "./links.js";

/**
 * @typedef {import("./app.js").State} State
 * @typedef {import("./app.js").Line} Line
 * @typedef {{ update?: (state: State) => void, line?: (line: Line) => void, close?: () => void }} Opened
 * @typedef {(root: HTMLElement, words: string[]) => Opened | Promise<Opened>} Open
 */

/** @type {Record<string, { view: string, load: () => Promise<{ open: Open }> }>} */
const PAGES = {
  player: { view: "player", load: () => import("./player.js") },
  accounts: { view: "accounts", load: () => import("./accounts.js") },
  account: { view: "account", load: () => import("./account.js") },
  zones: { view: "zones", load: () => import("./zonelist.js") },
  zone: { view: "ground", load: () => import("./zone.js") },
  content: { view: "find", load: () => import("./content.js") },
  source: { view: "source", load: () => import("./source.js") },
  graphs: { view: "graphs", load: () => import("./graphs.js") },
  log: { view: "log", load: () => import("./log.js") },
  petitions: { view: "petitions", load: () => import("./petitions.js") },
  audit: { view: "audit", load: () => import("./audit.js") },
};

/** @type {Record<string, string>} */
const LISTS = { account: "accounts", zone: "zones", source: "content" }; // the link that leads to a page

/** @type {Opened} */
let opened = {};
let turns = 0; // counts the pages that were opened: a page that loads slowly must not replace a later one
/** @type {State | null} */
let last = null;
let shown = "";

const COUNT_AGAIN = 30000; // ms

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a mistyped address
  }
}

// Show the page of the address, or the overview.
async function go() {
  const words = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
  const page = currentUser() && Object.hasOwn(PAGES, words[0] ?? "") ? words[0] : "";
  const turn = ++turns, root = find("page");
  opened.close?.();
  opened = {};
  shown = page;
  document.body.classList.toggle("paged", page !== "");
  root.hidden = page === "";
  root.replaceChildren();
  markLinks();
  if (!page) return;
  root.append(make("p", { class: "note" }, "Loading …"));
  const module = await PAGES[page].load();
  if (turn !== turns) return;
  root.replaceChildren();
  const made = await module.open(root, words.slice(1));
  if (turn !== turns) return made.close?.();
  opened = made;
  if (last) opened.update?.(last);
  // Whoever has begun to use the page, while the last of it was loading, keeps the focus.
  if (root.contains(document.activeElement)) return;
  const title = root.querySelector("h2");
  if (title) {
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
  }
  scrollTo(0, 0);
}

function markLinks() {
  for (const link of find("nav").querySelectorAll("a")) {
    const page = link.hash.split("/")[1] ?? "";
    link.hidden = page !== "" && !mayView(PAGES[page]?.view ?? "");
    if (page === (LISTS[shown] ?? shown)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// Keep the number of open petitions in the heading, whatever page is shown.
async function countPetitions() {
  if (document.hidden || !mayView("petitions")) return;
  const answer = await view("petitions", { which: "open" });
  if (answer.ok) showPetitionCount(answer.data.length);
}

/** @param {State} state */
export function updatePage(state) {
  last = state;
  opened.update?.(state);
}

/** @param {Line} line */
export function passLine(line) {
  opened.line?.(line);
  if (/petition/i.test(line.text)) countPetitions();
}

// Show the pages that the user may open; `isNew` for one that has just signed in or out.
/** @param {boolean} isNew */
export function usePages(isNew) {
  const isSignedIn = currentUser() !== null;
  find("nav").hidden = !isSignedIn;
  if (!isSignedIn) last = null;
  if (isNew) {
    showPetitionCount(0);
    countPetitions();
    go();
  } else {
    markLinks();
  }
}

addEventListener("hashchange", () => go());
setInterval(countPetitions, COUNT_AGAIN);
