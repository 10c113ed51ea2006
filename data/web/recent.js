// What happened of late: logins and refusals, the newest first, and the log, the newest last.

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
  ], "Nobody has logged in yet.");
}

/** @param {Login} login */
export function addLogin(login) {
  logins = [numbered(login), ...logins].slice(0, MOST_LOGINS);
  drawing ||= requestAnimationFrame(showLogins); // a crowd that logs in is drawn once
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

// Add lines to the log; who reads its end goes on reading there.
/** @param {Line[]} lines */
export function addLines(...lines) {
  const list = find("log"), box = /** @type {HTMLElement} */ (list.parentElement);
  const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  list.append(...lines.map(item));
  while (list.children.length > MOST_LINES) list.firstChild?.remove();
  if (isAtEnd) box.scrollTop = box.scrollHeight;
}

// What was before the page was open, again whenever the stream begins anew.
/** @param {{ logins: Login[], lines: Line[] }} told */
export function showRecent(told) {
  logins = told.logins.map(numbered);
  showLogins();
  find("log").replaceChildren();
  addLines(...told.lines);
}
