// The map of a zone: the players' positions, x to the right and z upwards, as in /loc.

import { find, updateChildren, sizeOf, svg, write } from "./elements.js";
import { step, ticks } from "./scale.js";
import { plural } from "./texts.js";

const LEAST_WIDTH = 40;
const MARGIN = 1.4;
const LETTER = 8;
const LINE = 16;
const LONGEST = 18;
const MOST_SPOKEN = 20; // players whose positions are in the map's label, for screen readers

/** @typedef {import("./app.js").Player} Player */
/** @typedef {import("./app.js").Zone} Zone */
/** @typedef {{ anchor: string, x: number, y: number, box: number[] }} Label */
/**
 * @typedef {{
 *   id: number, name: string, away: boolean, at: string, x: number, y: number,
 *   label?: Label | null,
 * }} Dot
 */

const map = find("map");
let shownZone = "";
/** @type {{ x: number, z: number, height: number } | null} */
let view = null;

// Return the displayed square: the last one as long as it fits, so that the map does not jump.
/**
 * @param {string} zone
 * @param {Player[]} players
 * @param {number} ratio
 */
function squareFor(zone, players, ratio) {
  const xs = players.map((player) => player.x), zs = players.map((player) => player.z);
  const box = [Math.min(...xs), Math.max(...xs), Math.min(...zs), Math.max(...zs)];
  const needed = Math.max(LEAST_WIDTH, box[3] - box[2], (box[1] - box[0]) / ratio);
  const fits = view && zone === shownZone && needed > view.height / 4
    && box[0] >= view.x - view.height * ratio / 2 && box[1] <= view.x + view.height * ratio / 2
    && box[2] >= view.z - view.height / 2 && box[3] <= view.z + view.height / 2;
  shownZone = zone;
  if (!view || !fits) view = { x: (box[0] + box[1]) / 2, z: (box[2] + box[3]) / 2, height: needed * MARGIN };
  return view;
}

/** @param {string} text */
const short = (text) => {
  const letters = [...text];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : text;
};

// Return a place beside each dot where its name covers no other name, or null if there is none.
/**
 * @param {Dot[]} dots
 * @param {number} width
 * @param {number} height
 * @returns {(Label | null)[]}
 */
function labels(dots, width, height) {
  const taken = dots.map((dot) => [dot.x - 5, dot.y - 5, dot.x + 5, dot.y + 5]);
  /** @param {number[]} box */
  const free = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height
    && taken.every((other) => box[0] >= other[2] || other[0] >= box[2]
      || box[1] >= other[3] || other[1] >= box[3]);
  return dots.map((dot) => {
    const long = short(dot.name).length * LETTER + 2, half = LINE / 2;
    const places = [
      { anchor: "start", x: 9, y: 4, box: [dot.x + 7, dot.y - half, dot.x + 7 + long, dot.y + half] },
      { anchor: "end", x: -9, y: 4, box: [dot.x - 7 - long, dot.y - half, dot.x - 7, dot.y + half] },
      { anchor: "middle", x: 0, y: -10,
        box: [dot.x - long / 2, dot.y - 7 - LINE, dot.x + long / 2, dot.y - 7] },
      { anchor: "middle", x: 0, y: 20,
        box: [dot.x - long / 2, dot.y + 7, dot.x + long / 2, dot.y + 7 + LINE] },
    ];
    const place = places.find((one) => free(one.box)) ?? null;
    if (place) taken.push(place.box);
    return place;
  });
}

/**
 * @param {{ x: number, z: number, height: number }} shown
 * @param {number} width
 * @param {number} height
 * @param {number} scale
 * @returns {[SVGElement, number]}
 */
function grid(shown, width, height, scale) {
  const size = step(70 / scale), made = svg("g", { class: "grid", "aria-hidden": "true" });
  const left = shown.x - width / scale / 2, low = shown.z - height / scale / 2;
  for (const x of ticks(left, left + width / scale, size)) {
    const at = (x - left) * scale;
    made.append(svg("line", { x1: at, x2: at, y1: 0, y2: height }));
    if (at > 40 && at < width - 48) made.append(svg("text", { x: at + 4, y: height - 6 }, x));
  }
  for (const z of ticks(low, low + height / scale, size)) {
    const at = height - (z - low) * scale;
    made.append(svg("line", { x1: 0, x2: width, y1: at, y2: at }));
    if (at > 36 && at < height - 24) made.append(svg("text", { x: 5, y: at - 4 }, z));
  }
  made.append(svg("text", { class: "axis", x: width - 8, y: height - 6, "text-anchor": "end" }, "x"),
    svg("text", { class: "axis", x: 5, y: 14 }, "z"));
  return [made, size];
}

/** @param {Dot} entry */
function drawn(entry) {
  const made = svg("g", { class: entry.away ? "dot away" : "dot" });
  made.append(svg("title", {}, `${entry.name} at ${entry.at}`), svg("circle", { r: 5 }));
  if (entry.label) {
    const { anchor, x, y } = entry.label;
    made.append(svg("text", { x, y, "text-anchor": anchor }, short(entry.name)));
  }
  made.setAttribute("transform", `translate(${entry.x.toFixed(1)} ${entry.y.toFixed(1)})`);
  return made;
}

// The map as text, for screen readers.
/**
 * @param {Zone | undefined} zone
 * @param {Player[]} players
 */
function mapLabel(zone, players) {
  if (!zone) return "No zone is running";
  if (!players.length) return `No players in ${zone.name}`;
  const places = players.slice(0, MOST_SPOKEN)
    .map((player) => `${player.name} at x ${Math.round(player.x)}, z ${Math.round(player.z)}`);
  return `${plural(players.length, "player")} in ${zone.name}: ${places.join("; ")}`;
}

/**
 * @param {Zone | undefined} zone
 * @param {number} width
 * @param {number} height
 */
function showNobody(zone, width, height) {
  const text = zone ? `No players in ${short(zone.name)}` : "No zone is running";
  const [ground, people] = map.children;
  people.replaceChildren();
  ground.replaceChildren(
    svg("text", { class: "empty", x: width / 2, y: height / 2, "text-anchor": "middle" }, text));
  write("map-text", "");
}

/**
 * @param {Zone} zone
 * @param {Player[]} players
 * @param {number} width
 * @param {number} height
 */
function showPeople(zone, players, width, height) {
  const [ground, people] = map.children;
  const shown = squareFor(`${zone.id}.${zone.instance}`, players, width / height);
  const scale = height / shown.height;
  const [lines, size] = grid(shown, width, height, scale);
  ground.replaceChildren(lines);
  /** @type {Dot[]} */
  const dots = players.map((player) => ({
    id: player.id, name: player.name, away: player.link_dead,
    at: [player.x, player.y, player.z].map((one) => one.toFixed(1)).join(", "),
    x: width / 2 + (player.x - shown.x) * scale, y: height / 2 - (player.z - shown.z) * scale,
  }));
  labels(dots, width, height).forEach((label, at) => { dots[at].label = label; });
  updateChildren(people, dots, (one) => one.id, drawn);
  const unnamed = dots.filter((one) => !one.label).length;
  write("map-text", `${plural(players.length, "player")}. A square is ${size} wide; x and z are`
    + ` those of /loc.${unnamed ? ` ${unnamed} are too close together for a name.` : ""}`);
}

/**
 * @param {Zone | undefined} zone
 * @param {Player[]} players
 */
export function showMap(zone, players) {
  map.classList.toggle("bare", !zone);
  const [width, height] = sizeOf(map);
  if (!width) return;
  map.setAttribute("viewBox", `0 0 ${width} ${height}`);
  map.setAttribute("aria-label", mapLabel(zone, players));
  if (!map.lastChild) map.append(svg("g", {}), svg("g", {}));
  if (zone && players.length) showPeople(zone, players, width, height);
  else showNobody(zone, width, height);
}
