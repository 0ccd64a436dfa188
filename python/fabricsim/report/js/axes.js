/* Axes of charts: where their marks stand, and whether a scale is logarithmic. */
import { unique } from "./elements.js";

/** Return round numbers from `low` to `high`, about so many. */
export function ticks(low, high, count) {
  const rough = (high - low || Math.abs(high) || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step)
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

/** Return 1, 2 and 5 times powers of ten from `low` to `high`; the powers alone where these are many. */
export function logTicks(low, high) {
  const found = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const m of [1, 2, 5]) found.push(m * 10 ** e);
  const inside = found.filter((v) => v >= low * 0.999 && v <= high * 1.001);
  return inside.length > 7 ? inside.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6) : inside;
}

/**
 * Return the axis over x: its ends, and whether it is logarithmic.
 *
 * It is where values above zero span 30 times, at three places at least; an axis of names or of bars never is.
 */
export function xAxis(values, { names = null, bars = false, log = true }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (names || bars) return { low: low - 0.6, high: high + 0.6, log: false };
  const far = low > 0 && high / low > 30 && unique(values).length > 2;
  if (low !== high) return { low, high, log: log && far };
  const beside = Math.abs(low) * 0.5 || 1;
  return { low: low - beside, high: high + beside, log: false };
}

/**
 * Return the axis over y: its ends, and whether it is logarithmic.
 *
 * It is where values above zero span 50 times; an axis of bars or one whose end is given never is. Others begin at zero.
 */
export function yAxis(values, { bars = false, yMax = null, log = true }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (log && !bars && !yMax && low > 0 && high / low > 50) return { low, high, log: true };
  const ground = Math.min(0, low);
  return { low: ground, high: yMax || (high === ground ? high + 1 : high + (high - ground) * 0.06), log: false };
}

/** Return the function from a value of an axis to a place between two pixels. */
export function placer({ low, high, log }, from, to) {
  const scale = log ? Math.log10 : (v) => v;
  return (value) => from + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (to - from);
}
