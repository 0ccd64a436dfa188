/* Tables whose rows have a bar of shares of time: jobs of MPI ranks, and memory nodes. */
import { colourOf } from "./colours.js";
import { el, hideTip, section, showTip, table } from "./elements.js";
import { label, largest } from "./metrics.js";
import { compact, finite, number } from "./numbers.js";
import { withoutSeed } from "./states.js";
import { amount, scaledUnit } from "./units.js";

/* Rows that are shown at most. */
const MOST_ROWS = 400;

const legend = (names) => {
  const key = (name, i) => el("span", { class: "key" }, el("i", { style: `background:${colourOf(i)}` }), name);
  return el("div", { class: "legend" }, names.map(key));
};

/** Return a bar of parts of a whole, which says its numbers under the pointer. */
function bar(sizes, whole, words) {
  const parts = sizes.map((size, i) => el("i", { style: `width:${(100 * size) / whole}%;background:${colourOf(i)}` }));
  return el("div", { class: "parts", onmousemove: (event) => showTip(event, words), onmouseleave: hideTip }, parts);
}

const cell = (content) => el("td", {}, content);
const numberCell = (text) => el("td", { class: "n" }, text);

const JOB_PARTS = ["compute_ns", "wait_ns", "overhead_ns"];

const ranked = (run) => (run.summary.jobs || []).filter((job) => finite(job.ranks));

function jobBar(job, names) {
  const sizes = JOB_PARTS.map((key) => job[key]);
  const whole = sizes.reduce((a, b) => a + b, 0);
  const share = (size) => (whole ? ((100 * size) / whole).toFixed(1) : 0);
  const words = names.map((name, i) => `${name}: ${amount(sizes[i], "ns")} (${share(sizes[i])} %)`);
  return bar(sizes, Math.max(whole, job.time_ns || 0) || 1, words.join("\n"));
}

export function jobs(data) {
  const mine = data.runs.filter((run) => ranked(run).length);
  if (!mine.length) return;
  const of = (key, options) => label(data.words, `jobs.0.${key}`, options);
  const names = JOB_PARTS.map((key) => of(key, { shown: "" }));
  const several = mine.some((run) => ranked(run).length > 1);
  const all = mine.flatMap((run) => ranked(run).map((job) => [run, job])).slice(0, MOST_ROWS);
  const [scale, unit] = scaledUnit("ns", largest(all.map(([, job]) => job.time_ns)));
  const rows = all.map(([run, job]) =>
    el(
      "tr",
      {},
      cell(withoutSeed(run)),
      several ? cell(job.name) : null,
      numberCell(number(job.ranks)),
      numberCell(finite(job.time_ns) ? number(job.time_ns * scale) : `${job.finished} done`),
      cell(jobBar(job, names)),
      numberCell(compact(job.messages + job.local_messages)),
      numberCell(compact(job.bytes + job.local_bytes)),
    ),
  );
  const numbers = [of("ranks"), of("time_ns", { shown: unit }), "messages", "bytes"];
  const heads = ["run", ...(several ? [of("name")] : []), ...numbers.slice(0, 2), "share of the time", ...numbers.slice(2)];
  section(
    "Jobs",
    "When the last rank of a job was done, and what its ranks did until then, mean over ranks. A rank that is done early " +
      "waits for nobody: the bar of a job of unequal ranks is shorter than its time." +
      (mine.some((run) => run.operations)
        ? " What they waited for, operation by operation, is told by `fabricsim ranks FOLDER`."
        : ""),
    legend(names),
    table(heads, rows, { numbers, className: "jobs" }),
  );
}

const ACCESS_PARTS = [
  ["caches and buses", ["l1_ns", "l2_ns", "bus_ns", "inside_ns"]],
  ["directories, owners", ["directory_ns", "owner_ns"]],
  ["memory", ["memory_ns"]],
  ["waiting for memory", ["memory_wait_ns"]],
  ["network", ["request_ns", "forward_ns", "response_ns"]],
  ["waiting in the network", ["request_wait_ns", "forward_wait_ns", "response_wait_ns"]],
  ["waiting for other accesses", ["protocol_ns"]],
];

function accessBar(memory) {
  const sizes = ACCESS_PARTS.map(([, keys]) =>
    Math.max(
      0,
      keys.reduce((sum, key) => sum + memory[key], 0),
    ),
  );
  const whole = sizes.reduce((a, b) => a + b, 0) || 1;
  const words = ACCESS_PARTS.map(
    ([name], i) => `${name}: ${amount(sizes[i], "ns")} (${((100 * sizes[i]) / whole).toFixed(1)} %)`,
  );
  return bar(sizes, whole, words.join("\n"));
}

export function memoryNodes(data) {
  const mine = data.runs.filter((run) => run.summary.memory);
  if (!mine.length) return;
  const [scale, unit] = scaledUnit("ns", largest(mine.map((run) => run.summary.memory.time_ns)));
  const rows = mine.slice(0, MOST_ROWS).map((run) => {
    const { memory } = run.summary;
    return el(
      "tr",
      {},
      cell(withoutSeed(run)),
      numberCell(compact(memory.accesses)),
      numberCell(finite(memory.time_ns) ? number(memory.time_ns * scale) : "-"),
      numberCell(number(memory.latency_ns)),
      cell(accessBar(memory)),
      el("td", { class: "soft" }, memory.bottleneck),
    );
  });
  const of = (key, options) => label(data.words, `memory.${key}`, options);
  const numbers = [of("accesses"), of("time_ns", { shown: unit }), of("latency_ns")];
  const heads = ["run", ...numbers, "share of an access", of("bottleneck")];
  section(
    "Memory nodes",
    "When the last core had its last access, and what a mean access spends its time with.",
    legend(ACCESS_PARTS.map(([name]) => name)),
    table(heads, rows, { numbers, className: "jobs" }),
  );
}
