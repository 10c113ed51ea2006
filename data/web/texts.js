// Counts, times and durations as text.

/**
 * @param {number} count
 * @param {string} word
 */
export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** @param {number} number */
const two = (number) => String(number).padStart(2, "0");

/**
 * @param {number} moment
 * @param {boolean} [seconds]
 */
export function clock(moment, seconds = true) {
  const time = new Date(moment * 1000);
  const short = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return seconds ? `${short}:${two(time.getSeconds())}` : short;
}

/** @param {number} seconds */
export function span(seconds) {
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (minutes < 1) return "< 1 min";
  if (minutes < 60) return `${minutes} min`;
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

// A duration with seconds, for a running clock.
/** @param {number} seconds */
export function running(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24, minutes = Math.floor(seconds / 60) % 60;
  const rest = `${two(hours)}:${two(minutes)}:${two(Math.floor(seconds) % 60)}`;
  return days ? `${days} ${days === 1 ? "day" : "days"} ${rest}` : rest;
}

// A date with its time, in UTC as in the log and the audit.
/** @param {number | null | undefined} moment */
export function dateTime(moment) {
  if (!moment) return "never";
  return Number.isFinite(moment) ? new Date(moment * 1000).toISOString().slice(0, 19).replace("T", " ") : "for ever";
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1024) return `${count} B`;
  return count < 1048576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1048576).toFixed(1)} MiB`;
}

// An amount of copper as coins: 100 of each make one of the next.
/** @param {number} copper */
export function coins(copper) {
  const parts = ["copper", "silver", "gold"].map((coin, at) => [Math.floor(copper / 100 ** at) % 100, coin]);
  parts.push([Math.floor(copper / 1000000), "platinum"]);
  return parts.filter(([count]) => count).reverse().map((part) => part.join(" ")).join(", ") || "none";
}
