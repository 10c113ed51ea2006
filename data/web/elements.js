// Making and mending elements. Whatever comes from the server becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

export const find = (id) => document.getElementById(id);

export function write(id, text) {
  const element = find(id);
  if (element.textContent !== String(text)) element.textContent = text;
}

// A name somebody else has chosen: kept from turning round what is written beside it.
export function name(text) {
  const made = document.createElement("bdi");
  made.textContent = made.title = text;
  return made;
}

export function svg(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Width and height of a picture as it is shown, in pixels.
export function sizeOf(picture) {
  const { width, height } = picture.getBoundingClientRect();
  return [Math.floor(width), Math.floor(height)];
}

// Mend the children of `parent` to be one for each entry, in this order. `make` is called with the
// entry and the child that is there only when the entry has changed: focus, selection and scrolling
// stay as they are.
export function mend(parent, entries, key, make) {
  const wanted = new Set(entries.map((entry) => String(key(entry))));
  for (const child of [...parent.children]) {
    if (!wanted.has(child.dataset.key)) child.remove(); // first, or all behind it would be moved
  }
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
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
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

// A row of a table; a cell is a text, or [content, class].
export function row(cells) {
  const made = document.createElement("tr");
  for (const cell of cells) {
    const [content, kind] = Array.isArray(cell) ? cell : [cell, ""];
    const at = made.insertCell();
    at.append(content);
    if (kind) at.className = kind;
  }
  return made;
}

// Put what has changed of a row into the one that is shown: a button in the rest keeps the focus.
function mended(shown, fresh) {
  if (shown?.cells.length !== fresh.cells.length) return fresh;
  [...fresh.cells].forEach((cell, at) => {
    if (!cell.isEqualNode(shown.cells[at])) shown.cells[at].replaceWith(cell);
  });
  return shown;
}

// The rows of a table, or one line that says why there are none.
export function table(id, entries, key, cells, empty) {
  const told = entries.length ? entries : [{ empty }];
  mend(find(id), told, (entry) => entry.empty ? "empty" : key(entry), (entry, shown) => {
    if (!entry.empty) return mended(shown, row(cells(entry)));
    const only = row([[entry.empty, "empty"]]);
    only.cells[0].colSpan = 9;
    return only;
  });
}
