// The running zones, one of which is on the map.

import { find, updateChildren, name } from "./elements.js";
import { showMap } from "./map.js";
import { plural } from "./texts.js";

/** @typedef {import("./app.js").Player} Player */
/** @typedef {import("./app.js").Zone} Zone */

/** @param {Zone} zone */
const keyOf = (zone) => `${zone.id}.${zone.instance}`;

/** @type {Zone[]} */
let zones = [];
/** @type {Player[]} */
let players = [];
/** @type {string | null} */
let chosen = null;
let isPicked = false; // whether the user has chosen the zone

/**
 * @param {Zone} zone
 * @param {HTMLLabelElement | undefined} before
 */
function choice(zone, before) {
  const label = before ?? document.createElement("label");
  if (!before) {
    const button = document.createElement("input");
    Object.assign(button, { type: "radio", name: "zone", value: keyOf(zone) });
    const number = document.createElement("span");
    number.className = "number";
    label.append(button, document.createElement("span"), number);
  }
  const [, title, count] = label.children;
  title.replaceChildren(name(zone.name + (zone.instance ? ` (${zone.instance + 1})` : "")));
  count.textContent = String(zone.players);
  label.title = plural(zone.players, "player") + (zone.places ? ` of ${zone.places}` : "")
    + `, ${plural(zone.spawns, "spawn")}` + (zone.ping ? `, ping ${zone.ping} ms` : "");
  return label;
}

// Choose the zone with the most players, unless the user has chosen another one.
function choose() {
  const now = zones.find((zone) => keyOf(zone) === chosen);
  if (now && (isPicked || now.players)) return;
  const fullest = zones.toSorted((a, b) => b.players - a.players)[0];
  chosen = fullest ? keyOf(fullest) : null;
  isPicked = false;
}

export function showChosen() {
  for (const button of find("zones").querySelectorAll("input")) {
    button.checked = button.value === chosen;
  }
  /** @param {Player} player */
  const here = (player) => `${player.zone_id}.${player.instance}` === chosen;
  showMap(zones.find((zone) => keyOf(zone) === chosen), players.filter(here));
}

/**
 * @param {Zone[]} newZones
 * @param {Player[]} newPlayers
 */
export function showZones(newZones, newPlayers) {
  zones = newZones
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.instance - b.instance);
  players = newPlayers;
  choose();
  find("zones-empty").hidden = zones.length > 0;
  updateChildren(find("zones"), zones, keyOf, choice);
  showChosen();
}

find("zones").addEventListener("change", (event) => {
  chosen = /** @type {HTMLInputElement} */ (event.target).value;
  isPicked = true;
  showChosen();
});
