/* Loads of a run's links window by window, fetched some at a time before they are needed; what is far away is forgotten. */

/* Bytes of one answer, and of what is kept. */
const CHUNK = 4e6;
const KEPT = 96e6;
/* The server gives no more windows than this at once. */
const MOST = 64;

/** Return how many windows are fetched together, and how many such answers are kept. */
export function chunksOf(size) {
  const windows = Math.max(1, Math.min(MOST, Math.floor(CHUNK / size)));
  return [windows, Math.max(3, Math.floor(KEPT / (windows * size)))];
}

/**
 * Return what gives the bytes of a window, or null while they are on their way; `fetchBytes(first, count)` asks for some,
 * `ready` is told when they are there.
 */
export function loader(size, count, fetchBytes, ready, trouble) {
  const [windows, most] = chunksOf(size);
  const chunks = new Map();
  const ask = (number) => {
    if (chunks.has(number) || number * windows >= count) return;
    chunks.set(number, null);
    fetchBytes(number * windows, windows).then(
      (bytes) => {
        chunks.set(number, bytes);
        ready();
      },
      (error) => {
        chunks.delete(number);
        trouble(error);
      },
    );
  };
  let whole = null;
  return (window) => {
    if (window < 0) {
      if (whole === null) {
        whole = undefined;
        fetchBytes(-1, 1).then((bytes) => {
          whole = bytes;
          ready();
        }, trouble);
      }
      return whole || null;
    }
    const number = Math.floor(window / windows);
    ask(number);
    ask(number + 1);
    for (const key of [...chunks.keys()]) if (chunks.size > most && key !== number && key !== number + 1) chunks.delete(key);
    const bytes = chunks.get(number);
    return bytes ? bytes.subarray((window % windows) * size, ((window % windows) + 1) * size) : null;
  };
}
