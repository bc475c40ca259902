/** Takes signed requests through a network as a server does: verified ahead, applied in order. */
import type { Answer, Network, Outcome, SignedRequest } from '../../engine/index.js';

/** Requests under way at a time: enough that neither threads nor disk wait for the next one. */
const WINDOW = 1_024;

/**
 * From raw bytes to durable, with a window of requests under way that crosses the borders of
 * blocks: waiting for each block to end would drain the threads 667 votes at a time.
 */
export async function passAll(network: Network, requests: readonly SignedRequest[]): Promise<void> {
  const ahead = requests.slice(0, WINDOW).map((request) => network.verify(request));
  for (let next = 0; next < requests.length; next += 1) {
    const verified = await ahead[next]!;
    if ('refusal' in verified) throw new Error(verified.refusal.message);
    if (network.backlog >= WINDOW) await network.durable;
    expectAccepted(network.apply(verified).outcome);
    const later = requests[next + WINDOW];
    if (later) ahead.push(network.verify(later));
  }
  await network.durable;
}

/** A refusal would be cheaper than what is measured. */
export function expectAccepted(outcome: Outcome | null): Answer {
  if (outcome?.result === 'accepted') return outcome.data;
  throw new Error(`a request of the benchmark was not accepted: ${JSON.stringify(outcome)}`);
}
