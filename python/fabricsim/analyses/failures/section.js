/* What failures cost at every point, which ones are worst, and whom they part. */
import { el, section, table } from "../../report/js/elements.js";

/* Points, and failures without a slowdown at a point, that are shown at most. */
const MOST = 40;
const MOST_WITHOUT = 10;

const cell = (text) => el("td", {}, text);
const numberCell = (text) => el("td", { class: "n" }, text);
const times = (value) => (value === null || value === undefined ? "-" : value.toFixed(3));

/** Return the rows of a point: single failures together, by class of cable, and so many at once. */
function summaryRows(found) {
  const kind = (number) => (number === 1 ? found.of.slice(0, -1) : found.of);
  const row = (what, tried, { median, p90, worst, without_number: without }) =>
    el("tr", {}, cell(what), ...[String(tried), times(median), times(p90), times(worst), String(without)].map(numberCell));
  const one = found.singles;
  const classes = found.classes.length > 1 ? found.classes : [];
  return [
    ...(one ? [row(`one of ${found.candidates} ${kind(found.candidates)}`, one.tried, one)] : []),
    ...classes.map((each) => row(`of class ${each.link_class}`, each.tried, each)),
    ...found.many.map((each) => row(`${each.dead} ${kind(each.dead)} at once`, each.draws, each)),
  ];
}

function stateOf(failure) {
  if (!failure.parted) return failure.why || failure.state;
  const pairs = failure.first_parted.map(([from, to]) => `${from} from ${to}`).join(", ");
  return `parts ${failure.parted} pairs of nodes: ${pairs}${failure.parted > failure.first_parted.length ? ", ..." : ""}`;
}

function worstRow(failure) {
  const busy = failure.busy === null ? "" : `${(100 * failure.busy).toFixed(0)} %`;
  const [slowdown, share] = [times(failure.slowdown), busy].map(numberCell);
  return el("tr", {}, cell(failure.name), slowdown, cell(failure.busiest_link), share, cell(stateOf(failure)));
}

function drawPoint(found) {
  const parts = [el("p", {}, found.sentence)];
  if (!found.failures.length) return parts;
  const heads = ["tried", "median", "p90", "worst", "without a number"];
  parts.push(table(["what fails", ...heads], summaryRows(found), { numbers: heads }));
  const worst = found.worst.map((name) => found.failures.find((failure) => failure.name === name));
  const without = found.failures.filter((failure) => failure.slowdown === null);
  const rows = [...worst, ...without.slice(0, MOST_WITHOUT)].map(worstRow);
  const columns = ["worst failures", "slowdown", "busiest link then", "busy", "state"];
  if (rows.length) parts.push(table(columns, rows, { numbers: ["slowdown", "busy"] }));
  const more = without.length - MOST_WITHOUT;
  const notes = [...found.notes, ...(more > 0 ? [`and ${more} more without a number in failures.csv`] : [])];
  return parts.concat(notes.map((note) => el("p", { class: "soft" }, note)));
}

export function failuresSection(data) {
  const found = (data.products && data.products.failures && data.products.failures.failures) || [];
  if (!found.length) return;
  const drawn = found.slice(0, MOST).flatMap(drawPoint);
  if (found.length > MOST) drawn.push(el("p", { class: "soft" }, `and ${found.length - MOST} more points in failures.json`));
  section(
    "What failures cost",
    "A slowdown is the metric with the failure over that without it, the geometric mean over the same seeds. Failures without " +
      "a number, such as those that part nodes, count as worse than all others in medians and p90.",
    ...drawn,
  );
}
