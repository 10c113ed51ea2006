// A map on a canvas: the ground from above and thousands of marks, with pan, zoom and selection. x is to the right, z
// upwards.

import { step, ticks } from "./scale.js";

/**
 * @typedef {{ image: ImageBitmap, x: number, z: number, cell: number }} Outline x and z are the lowest that it shows
 * @typedef {{ id: string, kind: string, x: number, z: number, name: string, isBad?: boolean }} Mark
 */

const NEAR = 12; // px around a mark in which a click chooses it
const MOST_NAMES = 60;
const CHOSEN = 3; // px for a unit, at least, around a mark that the search has found
const CLOSEST = 40, FARTHEST = 0.002; // px for a unit
const ZOOM = 1.25, STRIDE = 60;
/** @type {Record<string, { color: string, size: number, shape: string }>} */
const LOOKS = {
  player: { color: "--accent", size: 6, shape: "circle" },
  npc: { color: "--npc", size: 4, shape: "square" },
  object: { color: "--thing", size: 4, shape: "diamond" },
  ground: { color: "--harvest", size: 4, shape: "triangle" },
  sign: { color: "--soft", size: 4, shape: "triangle" },
  widget: { color: "--widget", size: 5, shape: "diamond" },
  empty: { color: "--soft", size: 4, shape: "ring" },
};
export const KINDS = Object.keys(LOOKS);
const ORDER = ["empty", "ground", "sign", "object", "widget", "npc", "player"]; // the last are on top

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} shape
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function trace(pen, shape, x, y, size) {
  if (shape === "square") {
    pen.rect(x - size, y - size, 2 * size, 2 * size);
  } else if (shape === "diamond" || shape === "triangle") {
    pen.moveTo(x, y - size);
    pen.lineTo(x + size, shape === "diamond" ? y : y + size);
    if (shape === "diamond") pen.lineTo(x, y + size);
    pen.lineTo(x - size, shape === "diamond" ? y : y + size);
    pen.closePath();
  } else {
    pen.moveTo(x + size, y);
    pen.arc(x, y, size, 0, 2 * Math.PI);
  }
}

// Return the ends of a range without the outermost values.
/** @param {number[]} values @param {number} skipped */
function range(values, skipped) {
  const sorted = values.toSorted((a, b) => a - b);
  return [sorted[skipped], sorted[sorted.length - 1 - skipped]];
}

export class GroundMap {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(mark: Mark | null) => void} chosen is called when somebody chooses a mark
   */
  constructor(canvas, chosen) {
    this.canvas = canvas;
    this.chosen = chosen;
    /** @type {Mark[]} */
    this.marks = [];
    this.hidden = new Set();
    /** @type {Mark | null} */
    this.picked = null;
    /** @type {{ points: number[][], isRound: boolean }[]} */
    this.walks = []; // of what is picked
    /** @type {Outline | null} */
    this.outline = null;
    this.center = { x: 0, z: 0 };
    this.scale = 0; // px for a unit; 0 until something is shown
    this.frame = 0;
    this.draws = 0; // how often it was drawn, and the ms of the last time
    this.took = 0;
    this.listen();
  }

  listen() {
    const { canvas } = this;
    /** @type {Map<number, PointerEvent>} */
    const fingers = new Map();
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event);
      if (fingers.size === 1) moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const others = [...fingers.values()].filter((one) => one.pointerId !== event.pointerId);
      fingers.set(event.pointerId, event);
      if (others.length) {
        /** @param {PointerEvent} one */
        const span = (one) => Math.hypot(one.offsetX - others[0].offsetX, one.offsetY - others[0].offsetY);
        this.zoom(span(event) / Math.max(1, span(before)), event.offsetX, event.offsetY);
      } else {
        const x = event.offsetX - before.offsetX, y = event.offsetY - before.offsetY;
        moved += Math.abs(x) + Math.abs(y);
        this.pan(x, y);
      }
    });
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) {
      canvas.addEventListener(kind, (event) => {
        fingers.delete(event.pointerId);
        if (kind === "pointerup" && moved < 5) this.pick(this.at(event.offsetX, event.offsetY));
      });
    }
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.pressed(event));
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(canvas);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.pan(STRIDE, 0), ArrowRight: () => this.pan(-STRIDE, 0),
      ArrowUp: () => this.pan(0, STRIDE), ArrowDown: () => this.pan(0, -STRIDE),
      "+": () => this.zoom(ZOOM), "=": () => this.zoom(ZOOM), "-": () => this.zoom(1 / ZOOM), 0: () => this.fit(),
      Enter: () => this.pick(this.nearest()),
    };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** @param {Mark[]} marks */
  show(marks) {
    this.marks = marks.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
    if (this.picked) this.picked = marks.find((one) => one.id === this.picked?.id) ?? this.picked;
    if (!this.scale && marks.length) this.fit(0.01);
    this.draw();
  }

  /** @param {Outline} outline */
  showOutline(outline) {
    this.outline = outline;
    this.draw();
  }

  visible() {
    return this.marks.filter((one) => !this.hidden.has(one.kind));
  }

  // Show everything, or what is left without a share of the outermost marks of each side.
  /** @param {number} share */
  fit(share = 0) {
    const marks = this.visible(), { clientWidth: width, clientHeight: height } = this.canvas;
    if (!marks.length || !width) return;
    const skipped = Math.floor(marks.length * share);
    const [left, right] = range(marks.map((one) => one.x), skipped);
    const [low, high] = range(marks.map((one) => one.z), skipped);
    this.center = { x: (left + right) / 2, z: (low + high) / 2 };
    this.scale = Math.min(4, 0.92 * Math.min(width / Math.max(40, right - left), height / Math.max(40, high - low)));
    this.draw();
  }

  /** @param {number} x @param {number} y px */
  pan(x, y) {
    if (!this.scale) return;
    this.center = { x: this.center.x - x / this.scale, z: this.center.z + y / this.scale };
    this.draw();
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] the point that stays where it is */
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(CLOSEST, Math.max(FARTHEST, this.scale * factor));
    const right = x - this.canvas.clientWidth / 2, up = this.canvas.clientHeight / 2 - y;
    this.center.x += right / this.scale - right / scale;
    this.center.z += up / this.scale - up / scale;
    this.scale = scale;
    this.draw();
  }

  // Bring a mark into the middle and choose it.
  /** @param {Mark} mark */
  goTo(mark) {
    this.center = { x: mark.x, z: mark.z };
    this.scale = Math.max(this.scale, CHOSEN);
    this.pick(mark);
  }

  /** @param {Mark | null} mark */
  pick(mark) {
    if (mark?.id !== this.picked?.id) this.walks = [];
    this.picked = mark;
    this.draw();
    this.chosen(mark);
  }

  /** @param {{ x: number, z: number }} mark */
  place(mark) {
    return [this.canvas.clientWidth / 2 + (mark.x - this.center.x) * this.scale,
      this.canvas.clientHeight / 2 - (mark.z - this.center.z) * this.scale];
  }

  /** @param {number} x @param {number} y @param {number} [near] */
  at(x, y, near = NEAR) {
    /** @type {Mark | null} */
    let best = null, least = near * near;
    for (const mark of this.visible()) {
      const [left, top] = this.place(mark), far = (left - x) ** 2 + (top - y) ** 2;
      if (far <= least) [best, least] = [mark, far];
    }
    return best;
  }

  nearest() {
    return this.at(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2, Infinity);
  }

  // Several changes in one frame are drawn once.
  draw() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const began = performance.now();
      this.paint();
      this.draws += 1;
      this.took = performance.now() - began;
    });
  }

  paint() {
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio;
    const pen = canvas.getContext("2d");
    if (!pen || !width) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!this.scale) return;
    const style = getComputedStyle(canvas);
    this.paintOutline(pen);
    this.paintGrid(pen, width, height, style);
    const shown = this.visible().map((mark) => ({ mark, at: this.place(mark) }))
      .filter(({ at: [x, y] }) => x > -9 && y > -9 && x < width + 9 && y < height + 9);
    this.paintWalks(pen, style);
    for (const kind of ORDER) {
      this.paintKind(pen, kind, shown.filter(({ mark }) => mark.kind === kind), style);
    }
    this.paintNames(pen, shown, style);
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {string} kind
   * @param {{ mark: Mark, at: number[] }[]} shown
   * @param {CSSStyleDeclaration} style
   */
  paintKind(pen, kind, shown, style) {
    const { color, shape } = LOOKS[kind];
    const size = LOOKS[kind].size * Math.min(1, Math.max(0.55, Math.sqrt(this.scale))); // small from far away
    const bad = style.getPropertyValue("--bad"), own = style.getPropertyValue(color);
    for (const isBad of [false, true]) {
      pen.beginPath(); // one path for all of a color: thousands of marks take some ms
      for (const { mark, at: [x, y] } of shown) {
        if (Boolean(mark.isBad) === isBad) trace(pen, shape, x, y, isBad ? size + 1 : size);
      }
      pen.strokeStyle = pen.fillStyle = isBad ? bad : own;
      if (shape === "ring") pen.stroke();
      else pen.fill();
    }
  }

  /** @param {CanvasRenderingContext2D} pen */
  paintOutline(pen) {
    if (!this.outline) return;
    const { image, x, z, cell } = this.outline;
    const [left, top] = this.place({ x, z: z + cell * image.height });
    const size = cell * this.scale;
    pen.imageSmoothingEnabled = size < 2; // from near its cells are squares
    pen.drawImage(image, left, top, image.width * size, image.height * size);
  }

  // The round of what is picked, and the way that it goes before.
  /** @param {CanvasRenderingContext2D} pen @param {CSSStyleDeclaration} style */
  paintWalks(pen, style) {
    pen.strokeStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 2;
    for (const { points, isRound } of this.walks) {
      pen.beginPath();
      points.map(([x, z]) => this.place({ x, z })).forEach(([x, y]) => pen.lineTo(x, y));
      if (isRound) pen.closePath();
      pen.stroke();
    }
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {{ mark: Mark, at: number[] }[]} shown
   * @param {CSSStyleDeclaration} style
   */
  paintNames(pen, shown, style) {
    pen.font = "13px system-ui, sans-serif";
    pen.lineWidth = 3;
    pen.strokeStyle = style.getPropertyValue("--paper");
    pen.fillStyle = style.getPropertyValue("--ink");
    const named = shown.filter(({ mark }) => mark.name && (mark.kind === "player" || shown.length <= MOST_NAMES
      || mark.id === this.picked?.id)).slice(-MOST_NAMES)
      .sort((a, b) => Number(a.mark.id === this.picked?.id) - Number(b.mark.id === this.picked?.id));
    /** @type {number[][]} */
    const taken = []; // where names are: one that would cover another is left out
    for (const { mark, at: [x, y] } of named.reverse()) {
      const right = x + 9 + pen.measureText(mark.name).width;
      if (taken.some(([left, end, height]) => x < end && left < right && Math.abs(height - y) < 14)) continue;
      taken.push([x, right, y]);
      pen.strokeText(mark.name, x + 9, y + 4);
      pen.fillText(mark.name, x + 9, y + 4);
    }
    const picked = shown.find(({ mark }) => mark.id === this.picked?.id);
    if (!picked) return;
    pen.beginPath();
    pen.lineWidth = 2;
    pen.strokeStyle = style.getPropertyValue("--ink");
    pen.arc(picked.at[0], picked.at[1], 10, 0, 2 * Math.PI);
    pen.stroke();
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} width
   * @param {number} height
   * @param {CSSStyleDeclaration} style
   */
  paintGrid(pen, width, height, style) {
    const size = step(80 / this.scale), wide = width / this.scale / 2, tall = height / this.scale / 2;
    pen.lineWidth = 1;
    pen.font = "12px system-ui, sans-serif";
    pen.strokeStyle = style.getPropertyValue("--line");
    pen.fillStyle = style.getPropertyValue("--soft");
    pen.beginPath();
    for (const x of ticks(this.center.x - wide, this.center.x + wide, size)) {
      const at = width / 2 + (x - this.center.x) * this.scale;
      pen.moveTo(at, 0);
      pen.lineTo(at, height);
      if (at > 30) pen.fillText(String(x), at + 4, height - 6);
    }
    for (const z of ticks(this.center.z - tall, this.center.z + tall, size)) {
      const at = height / 2 - (z - this.center.z) * this.scale;
      pen.moveTo(0, at);
      pen.lineTo(width, at);
      if (at < height - 24) pen.fillText(String(z), 5, at - 4);
    }
    pen.stroke();
  }

  close() {
    this.observer?.disconnect();
    cancelAnimationFrame(this.frame);
  }
}
