/* How far the times of runs spread when what no machine keeps up is perturbed. */
import { el, section, table } from "../../report/js/elements.js";
import { amount } from "../../report/js/units.js";

/* Rows that are shown at most, and the spread from which on a time is fragile. */
const MOST_ROWS = 200;
const FRAGILE = 0.1;

/** Return every time that has a spread, as [run, key, spread]. */
export const spreadsOf = (runs) =>
  runs.flatMap((run) => Object.entries((run.summary.perturbed || {}).times || {}).map(([key, of]) => [run, key, of]));

function rowOf([run, key, of]) {
  const times = [of.unperturbed, of.min, of.median, of.max].map((value) => el("td", {}, amount(value, "ns")));
  const spread = el("td", { class: of.relative > FRAGILE ? "warn" : "good" }, `${(100 * of.relative).toFixed(1)} %`);
  return el("tr", {}, el("td", {}, run.label), el("td", {}, key), times, spread);
}

export function perturbSection(data) {
  const spreads = spreadsOf(data.runs);
  if (!spreads.length) return;
  const fragile = spreads.filter(([, , of]) => of.relative > FRAGILE).length;
  const verdict = fragile
    ? `${fragile} of ${spreads.length} times spread by more than 10 %: ` +
      "they tell of the order in which ranks happen to act, not of the network."
    : "No time spreads by more than 10 %.";
  const rows = spreads.slice(0, MOST_ROWS).map(rowOf);
  if (spreads.length > MOST_ROWS) rows.push(el("tr", {}, el("td", {}, `and ${spreads.length - MOST_ROWS} more in runs.parquet`)));
  section(
    "Under perturbation",
    `Each run again with other ties, starts that differ and neighbours in orders of their own. ${verdict}`,
    table(["run", "time", "unperturbed", "least", "median", "most", "spread"], rows),
  );
}
