// The chart of the number of players in the last hour, six hours or day.

import { find, sizeOf, svg, write } from "./elements.js";
import { step, ticks } from "./scale.js";
import { clock } from "./texts.js";

const HOUR = 3600;
const SPANS = [
  { seconds: HOUR, every: 15 * 60, text: "the last hour" },
  { seconds: 6 * HOUR, every: HOUR, text: "the last 6 hours" },
  { seconds: 24 * HOUR, every: 4 * HOUR, text: "the last 24 hours" },
];
const MARGIN = { left: 34, right: 12, top: 26, bottom: 24 };

const chart = find("population");
/** @type {import("./app.js").Minute[]} */
let counted = [];
let present = 0;

/** @param {import("./app.js").Minute[]} minutes */
export function setPopulation(minutes) {
  counted = minutes;
}

// Record the present number, between two answers of the server.
/** @param {number} players */
export function countNow(players) {
  present = players;
  const minute = 60 * Math.floor(Date.now() / 60000), last = counted.at(-1);
  if (last && last.moment >= minute) last.players = Math.max(last.players, players);
  else counted.push({ moment: minute, players });
}

// Return [moment, players] pairs, one for each `width` seconds: the maximum of its minutes.
/** @param {number} width */
function thinned(width) {
  const most = new Map();
  for (const { moment, players } of counted) {
    const at = width * Math.floor(moment / width);
    most.set(at, Math.max(players, most.get(at) ?? 0));
  }
  return [...most];
}

export function showPopulation() {
  const [width, height] = sizeOf(chart);
  if (!width || !counted.length) return;
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const now = Date.now() / 1000, age = now - counted[0].moment;
  const shown = SPANS.find((one) => age < one.seconds) ?? SPANS[SPANS.length - 1];
  const bar = Math.max(60, shown.seconds / 288);
  const bars = thinned(bar).filter(([moment]) => moment > now - shown.seconds);
  const most = Math.max(0, ...bars.map(([, players]) => players));
  const size = Math.max(1, step(Math.max(1, most) / 3));
  const top = size * Math.max(1, Math.ceil(most / size));
  /** @param {number} moment */
  const across = (moment) => MARGIN.left
    + (width - MARGIN.left - MARGIN.right) * Math.max(0, 1 - (now - moment) / shown.seconds);
  /** @param {number} players */
  const up = (players) => height - MARGIN.bottom
    - (height - MARGIN.top - MARGIN.bottom) * players / top;
  const made = [svg("text", { class: "axis", x: 0, y: 12 }, "players")];
  for (const players of ticks(0, top, size)) {
    const y = up(players);
    made.push(svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }),
      svg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, players));
  }
  const shift = new Date().getTimezoneOffset() * 60;
  for (const local of ticks(now - shown.seconds - shift, now - shift, shown.every)) {
    const x = across(local + shift);
    if (x < MARGIN.left + 14 || x > width - 16) continue;
    made.push(svg("line", { class: "tick", x1: x, x2: x, y1: up(0), y2: up(0) + 5 }),
      svg("text", { x, y: height - 5, "text-anchor": "middle" }, clock(local + shift, false)));
  }
  const steps = bars.map(([moment, players]) => {
    const end = Math.min(across(moment + bar), width - MARGIN.right);
    return `M${across(moment)} ${up(0)}V${up(players)}H${Math.max(end, across(moment) + 1)}V${up(0)}`;
  });
  made.push(svg("path", { d: steps.join("") }));
  chart.replaceChildren(...made);
  tell(shown, bars);
}

/**
 * @param {{ text: string }} shown
 * @param {[number, number][]} bars
 */
function tell(shown, bars) {
  const [when, most] = bars.reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0]);
  const text = most
    ? `Players in ${shown.text}: ${present} now, ${most} at most (${clock(when, false)}).`
    : `No players in ${shown.text}.`;
  write("population-text", text);
  chart.setAttribute("aria-label", text);
}
