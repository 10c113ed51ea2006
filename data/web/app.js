// The page of a running server: its state comes every two seconds, events as they happen.

import { showLock, startDesk } from "./desk.js";
import { find, name, table, write } from "./elements.js";
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

let began = 0; // when the server started and when it was last heard, once it was
let heard = 0;

/** @param {State} told */
function showState(told) {
  heard = Date.now();
  began = heard / 1000 - told.status.uptime;
  const server = told.status;
  const up = told.worlds.filter((world) => world.up).length;
  document.title = `${server.name}: ${plural(server.players, "player")}`;
  if (find("name").textContent !== server.name) find("name").replaceChildren(name(server.name));
  write("about", `${server.game} server, version ${server.version}`
    + (server.locked ? ", locked: only game masters may come in" : ""));
  write("players-now", server.players);
  write("players-room", server.places ? `of ${server.places}` : "");
  write("zones-now", server.zones);
  write("worlds-now", up);
  write("worlds-known", `of ${told.worlds.length} up`);
  countNow(server.players);
  showLock(server.locked);
  showUptime();
  showWorlds(told.worlds);
  showZones(told.zones, told.players);
  showPlayers(told.players);
  showPopulation();
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
    // The stream says that the server is away; the next turn asks again.
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
let isStaff = false; // whether the stream was opened by somebody who is signed in

// Open the stream of events, in place of an earlier one. What it says depends on who asks.
function listen() {
  stream?.close();
  const events = new EventSource("api/events");
  stream = events;
  /**
   * @param {string} kind
   * @param {(told: any) => void} take
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
  on("line", (/** @type {Line} */ told) => {
    addLines(told);
    if (told.area === "opcodes") refresh();
  });
  on("login", addLogin);
  events.onerror = () => {
    if (events !== stream) return;
    connected(false);
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, RETRY);
  };
}

startDesk((isSignedIn) => {
  if (isSignedIn !== isStaff) {
    isStaff = isSignedIn;
    listen();
  }
  if (heard) showPlayers();
});
new ResizeObserver(() => heard && (showChosen(), showPopulation())).observe(find("main"));
setInterval(showUptime, 1000);
setInterval(refresh, REFRESH);
listen();
