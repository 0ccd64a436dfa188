/* Where a campaign is, in words. */

const PHASES = {
  missing: ["bad", "this folder is not there"],
  empty: ["warn", "nothing here yet"],
  damaged: ["bad", "damaged"],
  unlisted: ["bad", "runs without a manifest"],
  running: ["", "running"],
  complete: ["", "complete"],
  interrupted: ["warn", "interrupted: --resume goes on"],
  unknown: ["warn", "not finished"],
};

/** Return the badge of a folder as [class, text]: the worst that is to be said of it. */
export function badge({ state, runs }) {
  const failed = runs.filter((run) => !run.ok).length;
  if (failed) return ["bad", `${failed} failed self-check${failed > 1 ? "s" : ""}: do not use these numbers`];
  const count = `${state.n_findings} damaged file${state.n_findings > 1 ? "s" : ""}`;
  if (state.n_findings && state.phase !== "running") return ["bad", count];
  return PHASES[state.phase];
}

/** Return how far a campaign is, from 0 to 1. */
export const shareOf = ({ finished, total }) => (total ? Math.min(1, finished / total) : 0);

/** Return a table with runs taken into it, each in its place in the study. */
export function merged(data, runs) {
  const byId = new Map(data.runs.map((run) => [run.id, run]));
  for (const run of runs) byId.set(run.id, run);
  const order = data.order.length ? data.order : [...byId.keys()];
  return { ...data, runs: order.filter((id) => byId.has(id)).map((id) => byId.get(id)) };
}
