/* The steps of a slider that one or two runs share: times at which a window of some run begins. */

/** Return the times (ns) at which a window of one of the runs begins, in order. */
export function stepsOf(runs) {
  const times = runs.flatMap((windows) => (windows ? windows.begin_ns : [])).sort((a, b) => a - b);
  return times.filter((time, i) => i === 0 || time - times[i - 1] > 1e-6);
}

/** Return the number of the window at a time; -1 where the run has none, null where it has ended. */
export function windowAt(windows, time) {
  if (!windows || !windows.begin_ns.length) return -1;
  const { begin_ns: begins, end_ns: ends } = windows;
  let [low, high] = [0, begins.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (begins[middle] <= time + 1e-6) low = middle;
    else high = middle - 1;
  }
  return time < ends[low] - 1e-6 || low < begins.length - 1 ? low : null;
}

/** Return the step that a key leads to, null where the key is for nothing here. */
export function stepAfter(key, at, count) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -count, End: count };
  return key in steps && count ? Math.max(0, Math.min(count - 1, at + steps[key])) : null;
}
