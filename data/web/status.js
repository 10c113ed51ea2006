// Keeps the public page up to date. Without JavaScript the page shows the state of its request.

const EVERY = 15000;

// The elements of the page that change.
const CHANGING = ["main", "#connection"];

// Replace the changed elements by those of a newer page.
/** @param {Document} newer */
function show(newer) {
  document.title = newer.title;
  for (const selector of CHANGING) {
    const before = document.querySelector(selector), after = newer.querySelector(selector);
    if (before && after && !before.isEqualNode(after)) {
      before.replaceWith(document.adoptNode(after));
    }
  }
}

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.pathname);
    if (!answer.ok) throw new Error(answer.statusText);
    show(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    const connection = document.querySelector("#connection");
    if (connection) {
      connection.className = "bad";
      connection.textContent = "the server does not answer";
    }
  }
}

setInterval(refresh, EVERY);
