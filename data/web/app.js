"use strict";
// The page of a running server: its state comes every two seconds, events as they happen.

const MOST_LINES = 300;
const SVG = "http://www.w3.org/2000/svg";
const find = (id) => document.getElementById(id);
const clock = (moment) => new Date(moment * 1000).toLocaleTimeString();
const json = (path) => fetch(path).then((answer) => answer.json());
const zoneKey = (zone) => `${zone.id}.${zone.instance}`;

let state = null;
let logins = [];

function cell(text, className) {
  const made = document.createElement("td");
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function rows(id, entries, cellsOf, empty) {
  const made = entries.map((entry) => {
    const row = document.createElement("tr");
    row.append(...cellsOf(entry));
    return row;
  });
  if (!made.length) {
    const only = cell(empty);
    only.colSpan = 9;
    made.push(document.createElement("tr"));
    made[0].append(only);
  }
  find(id).replaceChildren(...made);
}

function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function span(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

function showState(told) {
  state = told;
  const server = told.status;
  const lock = server.locked ? ", locked" : "";
  document.title = `${server.name}: ${server.players} players`;
  find("name").textContent = server.name;
  find("summary").textContent = `${server.players} players in ${server.zones} zones, `
    + `up ${span(server.uptime)}${lock}, version ${server.version}`;
  rows("worlds", told.worlds, (world) => [
    cell(world.name),
    cell(world.locked ? "locked" : world.up ? "up" : "down", world.up ? "good" : "bad"),
    cell(world.players, "number"),
  ], "no world is registered");
  rows("players", told.players, (player) => [
    cell(player.name + (player.link_dead ? " (link-dead)" : "")),
    cell(player.level, "number"), cell(player.class_), cell(player.zone),
    cell(span(player.online), "number"),
  ], "nobody is in the world");
  showZones(told.zones);
}

function showZones(zones) {
  const select = find("zone");
  const chosen = select.value;
  const wanted = zones.map((zone) => [zoneKey(zone), `${zone.name} (${zone.players})`]);
  if (JSON.stringify(wanted) !== select.dataset.shown) {
    select.dataset.shown = JSON.stringify(wanted);
    select.replaceChildren(...wanted.map(([value, text]) => new Option(text, value)));
    if (wanted.some(([value]) => value === chosen)) select.value = chosen;
  }
  showMap();
}

function showMap() {
  const chosen = find("zone").value;
  const here = state.players.filter((player) => `${player.zone_id}.${player.instance}` === chosen);
  if (!here.length) {
    find("map").replaceChildren(svg("text", { x: 50, y: 50, "text-anchor": "middle" }, "nobody"));
    return;
  }
  const xs = here.map((player) => player.x), zs = here.map((player) => player.z);
  const low = [Math.min(...xs), Math.min(...zs)], high = [Math.max(...xs), Math.max(...zs)];
  const width = 1.3 * Math.max(100, high[0] - low[0], high[1] - low[1]);
  const place = (player) => [
    50 + (100 * (player.x - (low[0] + high[0]) / 2)) / width,
    50 - (100 * (player.z - (low[1] + high[1]) / 2)) / width,
  ];
  find("map").replaceChildren(...here.flatMap((player) => {
    const [x, y] = place(player);
    return [svg("circle", { cx: x, cy: y, r: 1.2 }), svg("text", { x: x + 2, y: y + 1 }, player.name)];
  }));
}

function showLogins() {
  rows("logins", logins.slice(0, 20), (login) => [
    cell(clock(login.moment)), cell(login.account), cell(login.client || ""),
    cell(login.accepted ? "logged in" : login.reason, login.accepted ? "good" : "bad"),
  ], "nobody has logged in yet");
}

function addLine(line) {
  const list = find("log");
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
  const item = document.createElement("li");
  item.textContent = `${clock(line.moment)} ${line.area}: ${line.text}`;
  if (line.level === "warn" || line.level === "error") item.className = "bad";
  list.append(item);
  while (list.children.length > MOST_LINES) list.firstChild.remove();
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function showPopulation(minutes) {
  const most = Math.max(0, ...minutes.map((entry) => entry.players));
  const now = Date.now() / 1000;
  const bars = new Array(288).fill(0);
  for (const entry of minutes) {
    const at = 287 - Math.floor((now - entry.moment) / 300);
    if (at >= 0 && at < 288) bars[at] = Math.max(bars[at], entry.players);
  }
  find("population").replaceChildren(...bars.map((players, at) => {
    const height = (58 * players) / Math.max(1, most);
    return svg("rect", { x: at, y: 60 - height, width: 1, height });
  }));
  find("population-text").textContent = `${most} players at most`;
}

async function refreshSlow() {
  showPopulation(await json("api/population"));
  const history = await json("api/opcodes/history");
  find("opcodes").replaceChildren(...history.map((change) => {
    const item = document.createElement("li");
    item.textContent = `${change.time} ${change.who}: ${change.what}`;
    return item;
  }));
}

async function start() {
  find("zone").addEventListener("change", showMap);
  logins = await json("api/logins");
  showLogins();
  (await json("api/lines")).forEach(addLine);
  await refreshSlow();
  setInterval(refreshSlow, 60000);
  const events = new EventSource("api/events");
  events.addEventListener("state", (event) => showState(JSON.parse(event.data)));
  events.addEventListener("line", (event) => addLine(JSON.parse(event.data)));
  events.addEventListener("login", (event) => {
    logins = [JSON.parse(event.data), ...logins].slice(0, 200);
    showLogins();
  });
  events.onerror = () => {
    find("summary").textContent = "the server does not answer; trying again …";
  };
}

start();
