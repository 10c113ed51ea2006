// Round numbers for axes.

// Return the smallest of 1, 2, 5, 10, 20, 50 ... that is at least `least`.
/** @param {number} least */
export function step(least) {
  const ten = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5].map((times) => times * ten).find((size) => size >= least - 1e-9) ?? 10 * ten;
}

// Return the multiples of `size` from `low` to `high`.
/**
 * @param {number} low
 * @param {number} high
 * @param {number} size
 */
export function ticks(low, high, size) {
  const first = Math.ceil(low / size);
  const count = Math.max(0, Math.floor(high / size) - first + 1);
  return Array.from({ length: count }, (_, at) => (first + at) * size);
}
