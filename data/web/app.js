// The operators' page. While a user is signed in, a stream sends the server's state every two
// seconds, and events at once.

import { checkSession, showLock, startDashboard } from "./dashboard.js";
import { find, name, table, write } from "./elements.js";
import { passLine, updatePage, usePages } from "./pages.js";
import { showPlayers } from "./players.js";
import { countNow, setPopulation, showPopulation } from "./population.js";
import { addLines, addLogin, showRecent } from "./recent.js";
import { clock, plural, running } from "./texts.js";
import { showChosen, showZones } from "./zones.js";

/**
 * What the server sends; docs/protocol/administration/web.md has it all.
 * @typedef {{ name: string, up: boolean, locked: boolean, players: number }} World
 * @typedef {{
 *   id: number, instance: number, name: string, players: number, places: number, spawns: number,
 *   ping: number | null,
 * }} Zone
 * @typedef {{
 *   id: number, name: string, level: number, class_: string, zone: string, zone_id: number,
 *   instance: number, x: number, y: number, z: number, online: number, link_dead: boolean,
 * }} Player
 * @typedef {{
 *   name: string, game: string, version: string, locked: boolean, players: number, places: number,
 *   zones: number, uptime: number,
 * }} Status
 * @typedef {{ status: Status, worlds: World[], zones: Zone[], players: Player[] }} State
 * @typedef {{
 *   moment: number, account: string, client: number | null, accepted: boolean, reason: string,
 * }} Login
 * @typedef {{ moment: number, area: string, level: string, text: string }} Line
 * @typedef {{ moment: number, players: number }} Minute
 */

const RETRY = 3000;
const REFRESH = 60000;

let began = 0; // when the server started, and the last state; 0 before the first state
let heard = 0;

/** @param {State} state */
function showState(state) {
  heard = Date.now();
  began = heard / 1000 - state.status.uptime;
  const server = state.status;
  const up = state.worlds.filter((world) => world.up).length;
  document.title = `${server.name}: ${plural(server.players, "player")}`;
  if (find("name").textContent !== server.name) find("name").replaceChildren(name(server.name));
  write("about", `${server.game} server, version ${server.version}`
    + (server.locked ? ", locked: only game masters can enter" : ""));
  write("players-now", server.players);
  write("players-limit", server.places ? `of ${server.places}` : "");
  write("zones-now", server.zones);
  write("worlds-now", up);
  write("worlds-known", `of ${state.worlds.length} up`);
  countNow(server.players);
  showLock(server.locked);
  showUptime();
  showWorlds(state.worlds);
  showZones(state.zones, state.players);
  showPlayers(state.players);
  showPopulation();
  updatePage(state);
}

function showUptime() {
  if (heard && !document.body.classList.contains("stale")) {
    write("uptime", running(Date.now() / 1000 - began));
  }
}

/** @param {World[]} worlds */
function showWorlds(worlds) {
  table("worlds", worlds, (world) => world.name, (world) => [
    name(world.name),
    world.locked ? ["locked", "bad"] : world.up ? ["up", "good"] : ["down", "bad"],
    [world.players, "number"],
  ], "No world is registered yet.");
}

async function refresh() {
  /** @param {string} path */
  const json = (path) => fetch(path).then((answer) => answer.json());
  try {
    setPopulation(await json("api/population"));
    if (heard) showPopulation();
    table("opcodes", await json("api/opcodes/history"),
      (/** @type {{ time: string, who: string, what: string }} */ change) => JSON.stringify(change),
      (change) => [[change.time, "date"], name(change.who), change.what],
      "The tables are as they were shipped.");
  } catch {
    // The stream's error shows that the server is away; the next refresh tries again.
  }
}

/** @param {boolean} yes */
function connected(yes) {
  document.body.classList.toggle("stale", !yes);
  find("connection").className = yes ? "good" : "bad";
  write("connection", yes ? "live" : heard
    ? `disconnected; this is from ${clock(heard / 1000)}; trying again …`
    : "the server does not answer; trying again …");
}

/** @type {EventSource | null} */
let stream = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retrying;

const SHOWN = [
  "ask-title", "log", "logins", "map", "map-text", "opcodes", "players", "population",
  "population-text", "signed-in-as", "worlds", "zones",
];

// Remove what only signed-in users may see: others may use this browser next.
function forget() {
  heard = 0;
  for (const id of SHOWN) find(id).replaceChildren();
  document.title = "Operators";
  find("name").replaceChildren(name("Operators"));
  write("about", "Sign in with an account that has a rank");
}

// End the stream. Only signed-in users get one.
function hush() {
  clearTimeout(retrying);
  stream?.close();
  stream = null;
  document.body.classList.remove("stale");
  find("connection").className = "";
  write("connection", "signed out");
}

// Open the stream of events and close an earlier one.
function listen() {
  hush();
  write("connection", "connecting …");
  const events = new EventSource("api/events");
  stream = events;
  /**
   * @param {string} kind
   * @param {(value: any) => void} take
   */
  const on = (kind, take) => {
    events.addEventListener(kind, (event) => take(JSON.parse(event.data)));
  };
  events.onopen = () => {
    connected(true);
    refresh();
  };
  on("recent", showRecent);
  on("state", showState);
  on("line", (/** @type {Line} */ line) => {
    addLines(line);
    passLine(line);
    if (line.area === "opcodes") refresh();
  });
  on("login", addLogin);
  events.onerror = () => {
    if (events !== stream) return;
    connected(false);
    checkSession(); // the server refuses the stream when the session is over
    if (events.readyState === EventSource.CLOSED) retrying = setTimeout(listen, RETRY);
  };
}

startDashboard((isSignedIn, isNew) => {
  if (isSignedIn && !stream) listen();
  if (!isSignedIn) {
    hush();
    if (heard) forget();
  }
  if (heard) showPlayers();
  usePages(isNew);
});
new ResizeObserver(() => heard && (showChosen(), showPopulation())).observe(find("main"));
setInterval(showUptime, 1000);
setInterval(() => stream && refresh(), REFRESH);
