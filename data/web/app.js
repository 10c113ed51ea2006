// The page of a running server: its state comes every two seconds, events as they happen.

import { actionsOn, mayOnPlayers, showLock, startDesk } from "./desk.js";
import { find, mend, name, table, write } from "./elements.js";
import { showMap } from "./map.js";
import { countNow, setPopulation, showPopulation } from "./population.js";
import { clock, running, span } from "./times.js";

const MOST_LINES = 500;
const MOST_LOGINS = 200;
const RETRY = 3000;
const zoneKey = (zone) => `${zone.id}.${zone.instance}`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

let state = null;
let began = 0;
let heard = 0;
let logins = [];
let chosen = null;
let serial = 0;

function showState(told) {
  state = told;
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
  showWorlds();
  showZones();
  showPlayers();
  showPopulation();
}

function showUptime() {
  if (state && !document.body.classList.contains("stale")) {
    write("uptime", running(Date.now() / 1000 - began));
  }
}

function showWorlds() {
  table("worlds", state.worlds, (world) => world.name, (world) => [
    name(world.name),
    world.locked ? ["locked", "bad"] : world.up ? ["up", "good"] : ["down", "bad"],
    [world.players, "number"],
  ], "No world is registered yet.");
}

function zoneChoice(zone, before) {
  const label = before ?? document.createElement("label");
  if (!before) {
    const button = document.createElement("input");
    Object.assign(button, { type: "radio", name: "zone", value: zoneKey(zone) });
    label.append(button, document.createElement("span"), document.createElement("span"));
    label.lastChild.className = "number";
  }
  const [button, title, players] = label.children;
  button.checked = zoneKey(zone) === chosen;
  title.replaceChildren(name(zone.name + (zone.instance ? ` (${zone.instance + 1})` : "")));
  players.textContent = zone.players;
  label.title = plural(zone.players, "player") + (zone.places ? ` of ${zone.places}` : "")
    + `, ${plural(zone.spawns, "spawn")}` + (zone.ping ? `, ping ${zone.ping} ms` : "");
  return label;
}

function showZones() {
  const zones = state.zones
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.instance - b.instance);
  if (!zones.some((zone) => zoneKey(zone) === chosen)) {
    const fullest = zones.toSorted((a, b) => b.players - a.players)[0];
    chosen = fullest ? zoneKey(fullest) : null;
  }
  find("zones-empty").hidden = zones.length > 0;
  mend(find("zones"), zones, zoneKey, zoneChoice);
  showChosen();
}

function showChosen() {
  for (const button of find("zones").querySelectorAll("input")) {
    button.checked = button.value === chosen;
  }
  const zone = state.zones.find((one) => zoneKey(one) === chosen);
  const here = (player) => `${player.zone_id}.${player.instance}` === chosen;
  showMap(zone, state.players.filter(here));
}

function showPlayers() {
  const wanted = find("find").value.trim().toLowerCase();
  const shown = state.players
    .map((player) => ({
      id: player.id, name: player.name, away: player.link_dead,
      class: `${player.level} ${player.class_}`, zone: player.zone || "on the way", here: span(player.online),
      actions: mayOnPlayers(),
    }))
    .filter((one) => [one.name, one.class, one.zone]
      .some((text) => text.toLowerCase().includes(wanted)));
  table("players", shown, (player) => player.id, (player) => [
    named(player.name, player.away ? "link-dead" : ""),
    player.class, name(player.zone), [player.here, "number"],
    ...(player.actions.length ? [[actionsOn(player), "actions"]] : []),
  ], state.players.length ? "No player matches." : "Nobody is in the world.");
}

function named(text, note) {
  const both = document.createDocumentFragment();
  both.append(name(text), note ? ` (${note})` : "");
  return both;
}

function showLogins() {
  table("logins", logins, (login) => login.serial, (login) => [
    [clock(login.moment), "time"], name(login.account), [login.client || "", "number"],
    login.accepted ? ["logged in", "good"] : [name(login.reason), "bad"],
  ], "Nobody has logged in yet.");
}

function line(told) {
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.textContent = clock(told.moment);
  const area = document.createElement("b");
  area.textContent = told.area;
  const text = name(told.text);
  if (told.level === "warn" || told.level === "error") text.className = "bad";
  item.append(time, " ", area, " ", text);
  return item;
}

function showLines(lines, fresh = false) {
  const list = find("log"), box = list.parentElement;
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  if (fresh) list.replaceChildren();
  list.append(...lines.map(line));
  while (list.children.length > MOST_LINES) list.firstChild.remove();
  if (atEnd || fresh) box.scrollTop = box.scrollHeight;
}

const numbered = (login) => ({ ...login, serial: serial++ });

// What was before the page was open, again whenever the stream begins anew.
function showRecent(told) {
  logins = [...told.logins].reverse().map(numbered).reverse();
  showLogins();
  showLines(told.lines, true);
}

async function refresh() {
  const json = (path) => fetch(path).then((answer) => answer.json());
  try {
    setPopulation(await json("api/population"));
    if (state) showPopulation();
    table("opcodes", await json("api/opcodes/history"),
      (change) => JSON.stringify(change), (change) => [[change.time, "date"], name(change.who), change.what],
      "The tables are as they were shipped.");
  } catch {
    // The stream says that the server is away; the next turn asks again.
  }
}

function connected(yes) {
  document.body.classList.toggle("stale", !yes);
  find("connection").className = yes ? "good" : "bad";
  write("connection", yes ? "live" : heard
    ? `disconnected; this is from ${clock(heard / 1000)}; trying again …`
    : "the server does not answer; trying again …");
}

function listen() {
  const events = new EventSource("api/events");
  const on = (kind, take) => {
    events.addEventListener(kind, (event) => take(JSON.parse(event.data)));
  };
  events.onopen = () => {
    connected(true);
    refresh();
  };
  on("recent", showRecent);
  on("state", showState);
  on("line", (told) => {
    showLines([told]);
    if (told.area === "opcodes") refresh();
  });
  on("login", (login) => {
    logins = [numbered(login), ...logins].slice(0, MOST_LOGINS);
    showLogins();
  });
  events.onerror = () => {
    connected(false);
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, RETRY);
  };
}

startDesk(() => state && showPlayers());
find("zones").addEventListener("change", (event) => {
  chosen = event.target.value;
  showChosen();
});
find("find").addEventListener("input", () => state && showPlayers());
new ResizeObserver(() => state && (showChosen(), showPopulation())).observe(find("main"));
setInterval(showUptime, 1000);
setInterval(refresh, 60000);
listen();
