/* The unit in which numbers are shown: the same rules as fabricsim._units.scaled_unit. */
import { finite, number } from "./numbers.js";

/* For every unit of figures and axes, units from the largest on: how many of the first fit into one, and its name. */
const LADDERS = {
  ns: [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
  ],
  s: [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "us"],
  ],
  B: [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ],
  "MiB/s": [
    [2 ** 20, "TiB/s"],
    [2 ** 10, "GiB/s"],
  ],
};

/** Return what to multiply numbers of a unit by, and the unit in which the largest of them is short. */
export function scaledUnit(unit, largest) {
  const found = (LADDERS[unit] || []).find(([size]) => Math.abs(largest) >= size);
  return found ? [1 / found[0], found[1]] : [1, unit];
}

/** Return a number with its unit, in the one in which it is short. */
export function amount(value, unit) {
  if (!finite(value)) return number(value);
  const [factor, shown] = scaledUnit(unit, value);
  return `${number(value * factor)}${shown ? ` ${shown}` : ""}`;
}

const UNIT_AT_END = /^(.*) \[([^\]]+)\]$/s;

/** Return what to multiply numbers of an axis by, and its words with the unit in which the largest of them is short. */
export function scaledLabel(label, largest) {
  const [, words, unit] = UNIT_AT_END.exec(label) || [];
  if (!unit || !finite(largest)) return [1, label];
  const [factor, shown] = scaledUnit(unit, largest);
  return [factor, `${words} [${shown}]`];
}
