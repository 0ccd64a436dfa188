/* What a run says of itself: whether its network kept up with the load, and what of its figures is missing. */
import { finite, number } from "./numbers.js";

/** Return the value at a dotted path, undefined where there is none. */
export const get = (object, path) =>
  path.split(".").reduce((at, key) => (at === null || at === undefined ? undefined : at[key]), object);

/** Return "ok", "saturated", or "unsettled" where a run is too short to tell. */
export const stateOf = (run) => (run.summary.verdict || {}).state || (run.summary.saturated ? "saturated" : "ok");

/** Return why a run is in its state. */
export const becauseOf = (run) => (run.summary.verdict || {}).because || run.summary.saturated || "";

/** Return the share of the measured messages that have not arrived. */
export const lost = ({ summary }) => summary.not_arrived || 0;

/** Return what a figure that cannot be given is not below; undefined where it is given. */
export const atLeast = (run, key) => (get(run.summary, key) === null ? get(run.summary, `${key}_at_least`) : undefined);

/** Return the name of a run without its seed. */
export const withoutSeed = (run) => run.label.replace(/ ?seed=\S+$/, "") || run.id;

/** Return a number of a run, or what it is more than, multiplied for a unit. */
export const numberOf = (run, key, factor = 1) =>
  finite(atLeast(run, key)) ? `> ${number(factor * atLeast(run, key))}` : get(run.summary, key);
