/* Quantities of a study as numbers, for axes and for sorting; the same rules as fabricsim._units.axis_value. */

const PREFIX = { "": 1, K: 1e3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };
const TIME = { ps: 1e-3, ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
/* Ending of a unit, what it is in the unit of axes, and that unit. */
const AMOUNTS = [
  ["bit/s", 1e-9 / 8, "GB/s"],
  ["B/s", 1e-9, "GB/s"],
  ["B", 1, "B"],
];
const EXTENTS = /^\[\s*(\d+(?:\s*,\s*\d+)*)\s*,?\s*\]$/;
const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z/%]*)$/;

/**
 * Return a swept value as [number, unit of the axis], or null for a name.
 * Times become ns, bandwidths GB/s, sizes B; a list of extents becomes its product.
 */
export function quantity(text) {
  if (typeof text === "number") return [text, ""];
  const bare = String(text).trim().replace(/^"|"$/g, "");
  const extents = EXTENTS.exec(bare);
  if (extents) return [extents[1].split(",").reduce((product, part) => product * Number(part), 1), "product"];
  const match = QUANTITY.exec(bare);
  if (!match) return null;
  const [value, unit] = [Number(match[1]), match[2]];
  if (unit === "" || unit === "%") return [value, unit];
  if (TIME[unit]) return [value * TIME[unit], "ns"];
  for (const [suffix, factor, base] of AMOUNTS)
    if (unit.endsWith(suffix)) {
      const prefix = PREFIX[unit.slice(0, unit.length - suffix.length)];
      return prefix ? [value * prefix * factor, base] : null;
    }
  return null;
}
