/* What the ranks of jobs did with their time: whom they waited for, what the end depends on, and regions of their programs. */
import { el, section, table } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { amount } from "../../report/js/units.js";

/* Jobs, and rows of a table, that are shown at most. */
const MOST_JOBS = 20;
const MOST_ROWS = 40;

const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Return a time as a text with the unit in which it is shortest to read. */
export const timeText = (ns) => amount(ns, "ns");

/* Space above a table or a job that follows another. */
const heading = (text) => el("h3", { style: "margin-top:18px" }, text);

const sentence = (text) => el("p", {}, `${text[0].toUpperCase()}${text.slice(1)}.`);
const cell = (text) => el("td", {}, text);
const numberCell = (text) => el("td", { class: "n" }, text);

function waitsTable(job) {
  const heads = ["rank", "waits", "most for", "of its waiting", "for late ranks", "over"];
  const rows = job.waiting.map((wait) =>
    el(
      "tr",
      {},
      numberCell(wait.rank),
      numberCell(percent(wait.share)),
      numberCell(`rank ${wait.peer}`),
      numberCell(percent(wait.peer_share)),
      numberCell(percent(wait.late_share)),
      cell(wait.cable || "-"),
    ),
  );
  return rows.length ? [heading("ranks that wait most"), table(heads, rows, { numbers: heads.slice(0, 5) })] : [];
}

function regionsTable(job) {
  const regions = job.regions || [];
  if (!regions.length) return [];
  const known = regions.some((region) => region.recorded_mpi_ns !== null);
  const heads = ["region", "visits", "computing", "waiting", "in MPI otherwise"];
  if (known) heads.push("in MPI, recorded", "in MPI against that");
  heads.push("most waiting");
  const rows = regions.slice(0, MOST_ROWS).map((region) => {
    const compared = [
      numberCell(region.recorded_mpi_ns === null ? "-" : timeText(region.recorded_mpi_ns)),
      numberCell(region.compared || "-"),
    ];
    return el(
      "tr",
      {},
      cell(region.region || "outside of all"),
      numberCell(region.visits === null || !region.region ? "-" : number(region.visits)),
      numberCell(timeText(region.compute_ns)),
      numberCell(timeText(region.wait_ns)),
      numberCell(timeText(region.mpi_ns)),
      known ? compared : [],
      numberCell(region.rank_wait_ns ? `rank ${region.rank}: ${timeText(region.rank_wait_ns)}` : "-"),
    );
  });
  if (regions.length > MOST_ROWS) rows.push(el("tr", {}, cell(`and ${regions.length - MOST_ROWS} more in regions.parquet`)));
  return [heading("regions of the program, sums over ranks"), table(heads, rows, { numbers: heads.slice(1) })];
}

function drawJob(job) {
  const name = `${job.name || `job ${job.job}`}${job.label ? `, ${job.label}` : ""}`;
  const title = `${name}: ${number(job.ranks)} ranks, ${timeText(job.time_ns)}`;
  return [heading(title), ...(job.sentences || []).map(sentence), ...waitsTable(job), ...regionsTable(job)];
}

export function ranksSection(data) {
  const jobs = (data.products && data.products.ranks && data.products.ranks.ranks) || [];
  if (!jobs.length) return;
  const drawn = jobs.slice(0, MOST_JOBS).flatMap(drawJob);
  if (jobs.length > MOST_JOBS) drawn.push(el("p", { class: "soft" }, `and ${jobs.length - MOST_JOBS} more in ranks.json`));
  section(
    "Whom ranks wait for",
    "A rank is late where it has not come to a message that another waits for; " +
      "in the rest of the waiting, messages are under way. A cable is named where a " +
      "packet of the messages that ended the waits is held up longest.",
    ...drawn,
  );
}
