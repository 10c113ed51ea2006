// Recent events: logins and refusals, the newest first, and the log, the newest last.

import { find, name, table } from "./elements.js";
import { clock } from "./texts.js";

const MOST_LOGINS = 200;
const MOST_LINES = 500;

/** @typedef {import("./app.js").Login} Login */
/** @typedef {import("./app.js").Line} Line */

/** @type {(Login & { serial: number })[]} */
let logins = [];
let serial = 0;
let drawing = 0;

/** @param {Login} login */
const numbered = (login) => ({ ...login, serial: serial++ });

function showLogins() {
  drawing = 0;
  table("logins", logins, (login) => login.serial, (login) => [
    [clock(login.moment), "time"], name(login.account), [login.client || "", "number"],
    login.accepted ? ["logged in", "good"] : [name(login.reason), "bad"],
  ], "There were no logins yet.");
}

/** @param {Login} login */
export function addLogin(login) {
  logins = [numbered(login), ...logins].slice(0, MOST_LOGINS);
  drawing ||= requestAnimationFrame(showLogins); // many logins at once are drawn once
}

/** @param {Line} line */
function item(line) {
  const made = document.createElement("li");
  const time = document.createElement("time");
  time.textContent = clock(line.moment);
  const area = document.createElement("b");
  area.textContent = line.area;
  const text = name(line.text);
  if (line.level !== "info") text.className = "bad";
  made.append(time, " ", area, " ", text);
  return made;
}

// Add lines to the log. If its end is visible, it stays visible.
/** @param {Line[]} lines */
export function addLines(...lines) {
  const list = find("log"), box = /** @type {HTMLElement} */ (list.parentElement);
  const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  list.append(...lines.map(item));
  while (list.children.length > MOST_LINES) list.firstChild?.remove();
  if (isAtEnd) box.scrollTop = box.scrollHeight;
}

// Show the events from before the page was opened, after every connection of the stream.
/** @param {{ logins: Login[], lines: Line[] }} recent */
export function showRecent(recent) {
  logins = recent.logins.map(numbered);
  showLogins();
  find("log").replaceChildren();
  addLines(...recent.lines);
}
