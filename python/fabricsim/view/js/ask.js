/* What is asked of the server. */

async function answerOf(path, options = {}) {
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

/** Return a path with what is asked for. */
export const asked = (path, query) =>
  `${path}?${Object.entries(query)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join("&")}`;

/** Return the JSON at a path; an error has the words of the server. */
export const ask = async (path, query = {}) => (await answerOf(asked(path, query))).json();

/** Return the bytes at a path. */
export const askBytes = async (path, query) => new Uint8Array(await (await answerOf(asked(path, query))).arrayBuffer());

/** Have the server begin something; an error has its words. */
export const begin = async (path, what) => {
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(what) };
  return (await answerOf(path, options)).json();
};
