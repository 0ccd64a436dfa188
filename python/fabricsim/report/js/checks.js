/* The self-checks of all runs, and what to keep in mind: limits of models, notes of runs, networks that did not keep up. */
import { el, section, table, unique } from "./elements.js";
import { stateOf } from "./states.js";

/* Runs that are named at most: that fail a check, that are in a state. */
const MOST_FAILED = 20;
const MOST_NAMED = 4;

/** Return every check with how many runs passed it, and the runs that did not with what they say. */
export function checksOf(runs) {
  const found = new Map();
  for (const run of runs)
    for (const check of (run.summary.verdict && run.summary.verdict.checks) || []) {
      if (!found.has(check.name)) found.set(check.name, { passed: 0, failed: [], detail: check.detail });
      const entry = found.get(check.name);
      if (check.ok) entry.passed++;
      else entry.failed.push([run, check.detail]);
    }
  return found;
}

function detailOf({ failed, detail }, several) {
  if (failed.length) return failed.slice(0, MOST_FAILED).map(([run, text]) => el("div", {}, `${run.label}: ${text}`));
  return el("span", { class: "soft" }, several ? `e.g. ${detail || ""}` : detail || "");
}

export function checks(data) {
  const found = checksOf(data.runs);
  if (!found.size) return;
  const rows = [...found].map(([name, entry]) => {
    const { passed, failed } = entry;
    const count = el("td", { class: failed.length ? "bad" : "good" }, `${passed} of ${passed + failed.length}`);
    return el("tr", {}, el("td", {}, name), count, el("td", {}, detailOf(entry, data.runs.length > 1)));
  });
  section(
    "Self-checks",
    "Every run proves itself; a run that fails a check is an error, never a number.",
    table(["check", "passed", "detail"], rows, { className: "words" }),
  );
}

/** Say how many runs are in a state, and name some; null where there is none. */
function stateNote(runs, state, words) {
  const found = runs.filter((run) => stateOf(run) === state);
  if (!found.length) return null;
  const names = found.slice(0, MOST_NAMED).map((run) => run.label);
  const more = found.length > MOST_NAMED ? "; \u2026" : "";
  return el("li", {}, `${found.length} run${found.length > 1 ? "s are" : " is"} ${words} (${names.join("; ")}${more}).`);
}

export function notes(data) {
  const { runs } = data;
  const limits = unique(runs.flatMap((run) => run.summary.limits || []));
  const said = new Map();
  for (const run of runs) for (const text of run.summary.notes || []) said.set(text, (said.get(text) || 0) + 1);
  const items = [
    stateNote(runs, "saturated", "saturated: latency there grows with the length of the run"),
    stateNote(runs, "unsettled", "too short to tell whether the network keeps up"),
    ...[...said].map(([text, count]) => {
      const share = runs.length > 1 ? el("span", { class: "soft" }, ` (${count} of ${runs.length} runs)`) : null;
      return el("li", {}, text, share);
    }),
  ].filter(Boolean);
  if (!limits.length && !items.length) return;
  const listOf = (title, entries) =>
    entries.length ? el("div", {}, el("h3", {}, title), el("ul", { class: "plain" }, entries)) : null;
  const told = limits.map((text) => el("li", {}, text));
  const lists = [listOf("limits of the models", told), listOf("notes of the runs", items)];
  section("What to keep in mind", null, el("div", { class: "pair" }, lists));
}
