// Create and update elements. Data from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * The elements of index.html whose kind matters here; every other one is an HTMLElement.
 * @typedef {{
 *   "ask": HTMLDialogElement,
 *   "ask-reason": HTMLInputElement,
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

// Update the children of `parent`: one for each entry, in this order. `make` gets the entry and its
// present child, and is called only for changed entries: the others keep focus, selection and scrolling.
/**
 * @template T
 * @param {Element} parent
 * @param {T[]} entries
 * @param {(entry: T) => string | number} key
 * @param {(entry: T, shown: any) => HTMLElement | SVGElement} make
 */
export function updateChildren(parent, entries, key, make) {
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
      const made = make(entry, child);
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

// Show the rows of a table, or a line that says why it is empty.
/**
 * @template T
 * @param {string} id
 * @param {T[]} entries
 * @param {(entry: T) => string | number} key
 * @param {(entry: T) => Cell[]} cells
 * @param {string} empty
 */
export function table(id, entries, key, cells, empty) {
  if (entries.length) {
    updateChildren(find(id), entries, key, (entry, shown) => updatedRow(shown, row(cells(entry))));
    return;
  }
  updateChildren(find(id), [empty], () => "empty", () => {
    const only = row([[empty, "empty"]]);
    only.cells[0].colSpan = 9;
    return only;
  });
}
