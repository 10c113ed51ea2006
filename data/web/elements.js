// Create and update elements. Data from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * The elements of index.html whose kind matters here; every other one is an HTMLElement.
 * @typedef {{
 *   "ask": HTMLDialogElement,
 *   "find": HTMLInputElement,
 *   "sign-in-button": HTMLButtonElement,
 *   "sign-in-name": HTMLInputElement,
 *   "sign-in-password": HTMLInputElement,
 * }} Kinds
 */

/**
 * Return the element of index.html with an id.
 * @template {string} I
 * @param {I} id
 */
export const find = (id) =>
  /** @type {I extends keyof Kinds ? Kinds[I] : HTMLElement} */ (document.getElementById(id));

/**
 * Make an element; its content is elements and texts, never markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} kind
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} content
 */
export function make(kind, attributes = {}, ...content) {
  const made = document.createElement(kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...content);
  return made;
}

/**
 * @param {string} id
 * @param {string | number} text
 */
export function write(id, text) {
  const element = find(id);
  if (element.textContent !== String(text)) element.textContent = String(text);
}

// A name that a player has chosen. <bdi> keeps its text direction from changing the text beside it.
/** @param {string} text */
export function name(text) {
  const made = document.createElement("bdi");
  made.textContent = made.title = text;
  return made;
}

/**
 * @param {string} kind
 * @param {Record<string, string | number>} attributes
 * @param {string | number} [text]
 */
export function svg(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = String(text);
  return made;
}

// The displayed width and height of an element, in pixels.
/** @param {Element} element */
export function sizeOf(element) {
  const { width, height } = element.getBoundingClientRect();
  return [Math.floor(width), Math.floor(height)];
}

// Update the children of `parent`: one for each entry, in this order. `build` gets the entry and its
// present child, and is called only for changed entries: the others keep focus, selection and scrolling.
/**
 * @template T
 * @param {Element} parent
 * @param {T[]} entries
 * @param {(entry: T) => string | number} key
 * @param {(entry: T, shown: any) => HTMLElement | SVGElement} build
 */
export function updateChildren(parent, entries, key, build) {
  const wanted = new Set(entries.map((entry) => String(key(entry))));
  const children = /** @type {(HTMLElement | SVGElement)[]} */ ([...parent.children]);
  for (const child of children) {
    if (!wanted.has(child.dataset.key ?? "")) child.remove(); // first: otherwise every later child would be moved
  }
  const before = new Map(children.map((child) => [child.dataset.key, child]));
  let next = parent.firstElementChild;
  for (const entry of entries) {
    const id = String(key(entry)), shown = JSON.stringify(entry);
    let child = before.get(id);
    before.delete(id);
    if (child?.dataset.shown !== shown) {
      const made = build(entry, child);
      made.dataset.key = id;
      made.dataset.shown = shown;
      if (child && child !== made) {
        if (next === child) next = made;
        child.replaceWith(made);
      }
      child = made;
    }
    if (child === next) next = child.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/** @typedef {Node | string | number} Content */
/** @typedef {Content | [Content, string]} Cell a text, or [content, class] */

/**
 * Return a row of a table.
 * @param {Cell[]} cells
 */
export function row(cells) {
  const made = document.createElement("tr");
  for (const cell of cells) {
    const [content, kind] = Array.isArray(cell) ? cell : [cell, ""];
    const at = made.insertCell();
    at.append(typeof content === "number" ? String(content) : content);
    if (kind) at.className = kind;
  }
  return made;
}

// Copy the changed cells of a row into the displayed row: a button in the other cells keeps the focus.
/**
 * @param {HTMLTableRowElement | undefined} shown
 * @param {HTMLTableRowElement} fresh
 */
function updatedRow(shown, fresh) {
  if (shown?.cells.length !== fresh.cells.length) return fresh;
  [...fresh.cells].forEach((cell, at) => {
    if (!cell.isEqualNode(shown.cells[at])) shown.cells[at].replaceWith(cell);
  });
  return shown;
}

// Note the titles of the columns in the cells of a row: on a phone some tables show a cell in each line.
/**
 * @param {HTMLElement} body
 * @param {HTMLTableRowElement} made
 */
function labeled(body, made) {
  const heads = body.closest("table")?.tHead?.rows[0]?.cells ?? [];
  [...made.cells].forEach((cell, at) => { cell.dataset.label = heads[at]?.textContent ?? ""; });
  return made;
}

/**
 * @typedef {{ label: string, text: string, kind?: string, href?: string,
 *   links?: { text: string, href: string }[] }} Fact
 */

// Show names and values in a <dl>. A value that has not changed keeps focus and selection.
/**
 * @param {HTMLElement} list
 * @param {Fact[]} entries
 */
export function facts(list, entries) {
  updateChildren(list, entries, (one) => one.label, (one) => {
    const value = make("dd", one.kind ? { class: one.kind } : {});
    if (one.href) value.append(make("a", { href: one.href }, name(one.text)));
    else value.append(name(one.text));
    for (const link of one.links ?? []) value.append(make("a", { href: link.href }, name(link.text)), " ");
    return make("div", {}, make("dt", {}, one.label), value);
  });
}

// Make a table in a box that scrolls; the title of a column of numbers begins with #.
/**
 * @param {string} label
 * @param {string[]} columns
 */
export function makeTable(label, columns) {
  const body = make("tbody");
  const heads = columns.map((title) => make("th",
    title.startsWith("#") ? { scope: "col", class: "number" } : { scope: "col" }, title.replace("#", "")));
  const box = make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label },
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body));
  return { box, body };
}

/**
 * Show the rows of a table by its id, as `fillTable`.
 * @template T
 * @param {string} id
 * @param {T[]} entries
 * @param {(entry: T) => string | number} key
 * @param {(entry: T) => Cell[]} cells
 * @param {string} empty
 */
export const table = (id, entries, key, cells, empty) => fillTable(find(id), entries, key, cells, empty);

// Show the rows of a table, or a line that says why it is empty.
/**
 * @template T
 * @param {HTMLElement} body
 * @param {T[]} entries
 * @param {(entry: T) => string | number} key
 * @param {(entry: T) => Cell[]} cells
 * @param {string} empty
 */
export function fillTable(body, entries, key, cells, empty) {
  if (entries.length) {
    updateChildren(body, entries, key, (entry, shown) => updatedRow(shown, labeled(body, row(cells(entry)))));
    return;
  }
  updateChildren(body, [empty], () => "empty", () => {
    const only = row([[empty, "empty"]]);
    only.cells[0].colSpan = 9;
    return only;
  });
}
