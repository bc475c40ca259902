/** Asks the server from the worker that recomputes; what its limits hold back is waited for. */

export async function json<T>(url: string): Promise<T> {
  return (await (await get(url)).json()) as T;
}

/** @throws {Error} in words for the reader */
export async function get(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (!answer) throw new Error('the server does not answer');
    if (answer.ok) return answer;
    const wait = Number(answer.headers.get('retry-after'));
    if (answer.status !== 429 || !(wait > 0)) {
      throw new Error(`the server answered ${answer.status} to ${new URL(url).pathname}`);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(wait, 60) * 1_000));
  }
}
