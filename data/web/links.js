// Links to pages: their addresses, and the number beside a link of the heading.

import { write } from "./elements.js";

/** @param {string[]} words */
export const address = (...words) => `#/${words.map(encodeURIComponent).join("/")}`;

/** @param {number} count */
export const showPetitionCount = (count) => write("nav-petitions", count ? ` (${count})` : "");
