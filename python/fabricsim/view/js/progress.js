/* How far a campaign is, in words: runs in progress, failed ones, and the time left with its uncertainty. */
import { el } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";

/* Runs in progress that are shown. */
const MOST = 16;

/** Write seconds short: `40 s`, `12 min`, `3.5 h`. */
export function durationWords(seconds) {
  if (seconds < 90) return `${number(Math.max(1, Math.round(seconds)))} s`;
  if (seconds < 90 * 60) return `${number(Math.round(seconds / 60))} min`;
  if (seconds < 48 * 3600) return `${number(Math.round(seconds / 360) / 10)} h`;
  return `${number(Math.round(seconds / 8640) / 10)} days`;
}

/** Say how long is left; empty where that is not known. */
export function leftWords(left) {
  if (!left) return "";
  const about = `about ${durationWords(left.seconds)} left`;
  if (left.low === null) return `${about} as predicted; finished runs will say how sure that is`;
  const [low, high] = [durationWords(left.low), durationWords(left.high)];
  return low === high ? about : `${about} (nine in ten: ${low} to ${high})`;
}

/** Count runs in words: finished, running, failed, time left. */
export function countWords({ finished, total, running = [], n_failed: failed = 0, left = null, phase }) {
  const parts = [total ? `${number(finished)} of ${number(total)} runs` : `${number(finished)} runs`];
  if (running.length) parts.push(`${number(running.length)} running`);
  if (failed) parts.push(`${number(failed)} failed`);
  if (phase === "running" && leftWords(left)) parts.push(leftWords(left));
  return parts.join(" \u00b7 ");
}

/** Return the bars of runs in progress. */
export function runningBars(running) {
  const items = running.slice(0, MOST).map(({ label, fraction }) => {
    const percent = (100 * fraction).toFixed(0);
    const bar = { role: "progressbar", "aria-valuenow": percent, "aria-valuemax": "100", "aria-label": label };
    const name = el("div", { class: "name" }, el("span", {}, label), el("b", {}, `${percent} %`));
    return el(
      "li",
      {},
      name,
      el("div", { class: "bar", ...bar }, el("i", { style: `width:${percent}%;background:var(--accent)` })),
    );
  });
  return items.length ? [el("ol", { class: "hot running" }, items)] : [];
}

/** Return the lines of runs that gave no result. */
export const failedLines = ({ failed = [], n_failed: count = 0 }) => [
  ...failed.map(
    ({ label, kind, message }) =>
      `${label}: ${kind === "failed-check" ? "failed self-check" : "no result"}${message ? `: ${message}` : ""}`,
  ),
  ...(count > failed.length ? [`and ${number(count - failed.length)} more failed runs`] : []),
];
