// The page of graphs: what the server has measured in the last hour or day.

import { view } from "./api.js";
import { make, sizeOf, svg, updateChildren } from "./elements.js";
import { step, ticks } from "./scale.js";
import { clock } from "./texts.js";

const REFRESH = 10000;
const MARGIN = { left: 46, right: 10, top: 8, bottom: 22 };
const TIMES = [120, 300, 900, 3600, 4 * 3600]; // seconds between two times on the axis
const LEAST = 600; // seconds that a graph of a server that has just begun shows

/**
 * @typedef {{ name: string, label: string, values: (number | null)[] }} Line
 * @typedef {{ name: string, title: string, unit: string, series: Line[] }} Graph
 * @typedef {{ span: string, step: number, seconds: number, moments: number[], graphs: Graph[] }} Record_
 */

/** @param {number} value */
const shown = (value) => value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);

/** @param {(number | null)[]} values */
const known = (values) => /** @type {number[]} */ (values.filter((one) => one !== null));

/** @param {Line} line @param {string} unit */
function summary(line, unit) {
  const values = known(line.values);
  return `${line.label}: ${shown(values.at(-1) ?? 0)} ${unit}, ${shown(Math.max(...values))} at most`;
}

class Chart {
  /** @param {string} title */
  constructor(title) {
    this.drawing = svg("svg", { class: "chart", role: "img" });
    this.list = make("ul", { class: "keys" });
    this.section = make("section", {}, make("h3", {}, title), this.drawing, this.list);
    this.drawing.addEventListener("pointermove", (event) => this.point(/** @type {PointerEvent} */ (event)));
    this.drawing.addEventListener("pointerleave", () => this.draw());
    /** @type {Graph | null} */
    this.graph = null;
    /** @type {Record_ | null} */
    this.data = null;
  }

  /** @param {Graph} graph @param {Record_} data */
  show(graph, data) {
    this.graph = graph;
    this.data = data;
    this.drawing.setAttribute("aria-label",
      `${graph.title}. ${graph.series.map((line) => summary(line, graph.unit)).join(". ")}`);
    this.draw();
  }

  draw(at = -1) {
    const { graph, data } = this;
    const [width, height] = sizeOf(this.drawing);
    if (!graph || !data || !width) return;
    const now = (data.moments.at(-1) ?? 0) + data.step;
    const seconds = this.seconds(data);
    const most = Math.max(0, ...graph.series.flatMap((line) => known(line.values)));
    const size = graph.unit === "players" ? Math.max(1, step(Math.max(most, 1) / 3)) : step((most || 1) / 3);
    const top = size * Math.max(1, Math.ceil(most / size - 1e-9));
    /** @param {number} moment */
    const across = (moment) => MARGIN.left
      + (width - MARGIN.left - MARGIN.right) * Math.max(0, 1 - (now - moment) / seconds);
    /** @param {number} value */
    const up = (value) => height - MARGIN.bottom - (height - MARGIN.top - MARGIN.bottom) * value / top;
    const made = [];
    for (const value of ticks(0, top * 1.0001, size)) {
      made.push(svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: up(value), y2: up(value) }),
        svg("text", { x: MARGIN.left - 6, y: up(value) + 4, "text-anchor": "end" }, Number(value.toPrecision(3))));
    }
    const shift = new Date().getTimezoneOffset() * 60;
    for (const local of ticks(now - seconds - shift, now - shift,
      TIMES.find((one) => one >= seconds / 6) ?? TIMES[TIMES.length - 1])) {
      const x = across(local + shift);
      if (x < MARGIN.left + 14 || x > width - 18) continue;
      made.push(svg("line", { class: "tick", x1: x, x2: x, y1: up(0), y2: up(0) + 5 }),
        svg("text", { x, y: height - 5, "text-anchor": "middle" }, clock(local + shift, false)));
    }
    graph.series.forEach((line, number) => {
      made.push(svg("path", { class: `line line-${number}`, d: this.path(line, across, up) }));
    });
    if (at >= 0) {
      const x = across(data.moments[at]);
      made.push(svg("line", { class: "tick", x1: x, x2: x, y1: MARGIN.top, y2: up(0) }));
    }
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(...made);
    this.tell(graph, data, at);
  }

  // How much time is shown: less than the span while the server is young.
  /** @param {Record_} data */
  seconds(data) {
    const [first] = data.moments, last = data.moments.at(-1) ?? 0;
    return Math.min(data.seconds, Math.max(LEAST, last + data.step - (first ?? last)));
  }

  // The line of a series; it has a gap where nothing was measured.
  /**
   * @param {Line} line
   * @param {(moment: number) => number} across
   * @param {(value: number) => number} up
   */
  path(line, across, up) {
    const { moments, step: width } = /** @type {Record_} */ (this.data);
    let made = "", last = -Infinity;
    line.values.forEach((value, at) => {
      if (value === null) return;
      const isJoined = moments[at] - last <= 2.5 * width;
      made += `${isJoined ? "L" : "M"}${across(moments[at]).toFixed(1)} ${up(value).toFixed(1)}`;
      if (!isJoined) made += "h.5"; // a lone value is a dot
      last = moments[at];
    });
    return made;
  }

  // The lines by name, with their values now, or at the moment under the pointer.
  /** @param {Graph} graph @param {Record_} data @param {number} at */
  tell(graph, data, at) {
    updateChildren(this.list, graph.series, (line) => line.name, (line) => make("li", {}, line.label));
    graph.series.forEach((line, number) => {
      const value = line.values[at] ?? null;
      const text = at < 0 ? summary(line, graph.unit) : `${line.label}: ${value === null ? "not measured"
        : `${shown(value)} ${graph.unit}`} at ${clock(data.moments[at])}`;
      this.list.children[number].replaceChildren(make("span", { class: `key key-${number}`, "aria-hidden": "true" }),
        ` ${text}`);
    });
  }

  /** @param {PointerEvent} event */
  point(event) {
    const { data } = this;
    if (!data?.moments.length) return;
    const box = this.drawing.getBoundingClientRect(), width = box.width - MARGIN.left - MARGIN.right;
    const now = (data.moments.at(-1) ?? 0) + data.step;
    const moment = now - this.seconds(data) * (1 - (event.clientX - box.left - MARGIN.left) / width);
    let best = 0;
    data.moments.forEach((one, at) => {
      if (Math.abs(one - moment) < Math.abs(data.moments[best] - moment)) best = at;
    });
    this.draw(best);
  }
}

/** @type {import("./pages.js").Open} */
export async function open(root, words) {
  const span = make("select", { id: "graphs-span" }, make("option", { value: "hour" }, "the last hour"),
    make("option", { value: "day" }, "the last 24 hours"));
  if (words[0] === "day") span.value = "day";
  const note = make("p", { class: "note", role: "status" });
  const pieces = make("div", { class: "pieces" });
  const form = make("form", {}, make("label", {}, "Show ", span));
  root.append(make("h2", {}, "Graphs"), make("section", {}, form, note), pieces);
  /** @type {Map<string, Chart>} */
  const charts = new Map();
  let isClosed = false;
  async function load() {
    if (document.hidden || isClosed) return;
    const answer = await view("graphs", { span: span.value });
    note.textContent = answer.ok ? answer.data.graphs.length ? "" : "Nothing is measured yet." : answer.text;
    if (!answer.ok) return;
    for (const graph of answer.data.graphs) {
      const chart = charts.get(graph.name) ?? new Chart(graph.title);
      if (!charts.has(graph.name)) pieces.append(chart.section);
      charts.set(graph.name, chart);
      chart.show(graph, answer.data);
    }
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  span.addEventListener("change", load);
  const observer = new ResizeObserver(() => charts.forEach((chart) => chart.draw()));
  observer.observe(pieces);
  await load();
  const timer = setInterval(load, REFRESH);
  return {
    close: () => {
      isClosed = true;
      clearInterval(timer);
      observer.disconnect();
    },
  };
}
