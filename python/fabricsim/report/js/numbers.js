/* Numbers as text for people. What is no finite number is a dash. */

/** Tell whether a value is a number that can be drawn. */
export const finite = (value) => typeof value === "number" && Number.isFinite(value);

const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/* Making a format takes a hundred times as long as using it. */
const formats = new Map();

function grouped(value, fraction) {
  if (!formats.has(fraction)) formats.set(fraction, new Intl.NumberFormat("en-US", { maximumFractionDigits: fraction }));
  return formats.get(fraction).format(value);
}

/** Write a number in full, to so many significant digits; very large and very small ones with a power of ten. */
export function number(value, digits = 4) {
  if (!finite(value)) return "\u2013";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2).replace("e+", "e");
  if (Number.isInteger(value)) return grouped(value, 0);
  const fraction = Math.max(0, digits - 1 - Math.floor(Math.log10(size || 1)));
  return grouped(value, fraction);
}

const PREFIXES = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** Write a number short: 12.3 M, 2.5e-4. */
export function compact(value) {
  if (!finite(value)) return "\u2013";
  for (const [limit, prefix] of PREFIXES)
    if (Math.abs(value) >= limit) return trim((value / limit).toFixed(value / limit < 10 ? 2 : 1)) + " " + prefix;
  if (value !== 0 && Math.abs(value) < 0.01) return value.toExponential(1).replace(".0e", "e");
  if (value !== 0 && Math.abs(value) < 0.1) return trim(value.toPrecision(2));
  return trim(value.toFixed(Math.abs(value) < 10 ? 2 : 0));
}
