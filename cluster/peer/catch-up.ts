/**
 * Catch-up for a node that needs deleted batches. The node replaces its data with a peer's
 * snapshot. It tries all peers, again and again, until one of them provides a valid snapshot. Then
 * the node opens its folder again.
 */
import { sleep } from '../../engine/store/host-clock.js';
import type { LaggingNode } from '../network.js';
import { ClockOffsets, Members } from '../node/members.js';
import { type Card, type Order, OrderError } from '../order/order.js';
import { bounds, PeerError } from './proof.js';
import { type TakeOptions, takeSnapshot } from './take.js';

export interface CatchUpOptions extends TakeOptions {
  order: Order;
  /** Folkmoot version, for the card. */
  version: string;
  signal: AbortSignal;
  /** Called with the reason whenever all peers have failed. */
  waiting(why: string): void;
}

/**
 * Resolves once the node has newer data. Until then, its data is unchanged.
 * @throws {OrderError} `FENCED` if a different process takes this node's name.
 * @throws {StoreError} if this node's folder cannot be used.
 */
export async function catchUp(behind: LaggingNode, options: CatchUpOptions): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort(options.signal.reason);
  options.signal.addEventListener('abort', end);
  if (options.signal.aborted) end();
  const members = await announced(behind, options, (error) => ending.abort(error));
  try {
    await untilTaken(behind, options, ending.signal);
  } finally {
    options.clear();
    members.close();
    options.signal.removeEventListener('abort', end);
  }
}

/**
 * Announces a card with the current position, so that the other nodes keep the batches from that
 * position on.
 */
async function announced(
  { position: own }: LaggingNode,
  { host, order, node, newId, version }: CatchUpOptions,
  failed: (error: Error) => void,
): Promise<Members> {
  const incarnation = newId();
  const { seq, event_seq, digest } = own;
  const position = { version: own.order.version, revision: own.order.revision };
  const began = host.now();
  const members = new Members({
    ...{ host, order, node, offsets: new ClockOffsets(host) },
    card: (): Card => ({
      ...{ node, incarnation, began, wall: host.now(), position, seq, event_seq, digest },
      ...{ url: '', peer: '', version },
    }),
    applied: () => own.order.version,
    ends: () => {},
    heard: () => {},
    failed,
  });
  try {
    await order.join(node, incarnation);
    await members.greet();
  } catch (error) {
    // The order is queried again below, where the error is reported.
    if (!(error instanceof OrderError) || error.code !== 'UNAVAILABLE') throw error;
  }
  return members;
}

async function untilTaken(
  behind: LaggingNode,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<void> {
  let last = '';
  for (;;) {
    const why = await tryAll(behind, options, signal);
    if (why === null) return;
    const text = `this node needs deleted batches, and no peer has a usable snapshot: ${why}`;
    if (text !== last) options.tell(text);
    last = text;
    options.waiting(text);
    await sleep(options.host, bounds.retryMs, signal);
    signal.throwIfAborted();
  }
}

/** Tries all peers. Returns null on success, or the reason why no peer has a usable snapshot. */
async function tryAll(
  behind: LaggingNode,
  options: CatchUpOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const cards = await options.order.cards().catch((error: unknown) => {
    if (error instanceof OrderError && error.code === 'UNAVAILABLE') return error.message;
    throw error;
  });
  if (typeof cards === 'string') return cards;
  const peers = cards.filter(({ node, peer }) => node !== options.node && peer);
  if (peers.length === 0) return 'no other node has a peer port; start them with --peer-listen';
  peers.sort((a, b) => b.position.version - a.position.version);
  const reasons: string[] = [];
  for (const peer of peers) {
    try {
      await takeSnapshot(peer, cards, behind, options, signal);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PeerError)) throw error;
      reasons.push(`${peer.node} at ${peer.peer}: ${error.code}, ${error.message}`);
    }
  }
  return reasons.join('; ');
}
