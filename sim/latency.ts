/** How long things take to reach someone, in whole milliseconds: a pure hash, no state. */
import { mix } from './streams.js';

/** Nothing travels faster: the world runs in windows of this length. */
export const WINDOW_MS = 50;
const SHORTEST_MS = 100;
const SPREAD_MS = 200;

/** From one agent (or the network, -1) to another, for one message. */
export function latencyMs(seed: number, message: number, from: number, to: number): number {
  return SHORTEST_MS + (mix(seed, message, from, to) % SPREAD_MS);
}

/** The network's own place in links. */
export const NETWORK = -1;
