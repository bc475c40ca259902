/** One meme on a graph: when each agent hears it, by the world and by shortest paths. */
import type { Event, EventData } from 'folkmoot';
import type { Scenario } from 'folkmoot/sim';
import { Ordinals } from '../../../dist/sim/scenario/population.js';
import { Faults } from '../../../dist/sim/world/faults.js';
import { Knowledge } from '../../../dist/sim/world/knowledge.js';
import { Links } from '../../../dist/sim/world/links.js';
import { messageName } from '../../../dist/sim/world/messages.js';

export interface On extends Pick<Scenario['links'], 'latency' | 'loss'> {
  seed: number;
}

const START = 1_000_000;
/** Longer than any message needs. */
const QUIET_MS = 2_000;
const BLOCK = 'ab'.repeat(32);
const MEME = 'meme_1';
/** Identifies the block in draws: the first one of agent 0. */
const FIRST_BLOCK = { place: 0, number: 0 };
const timestamp = '2025-01-01T00:00:00Z';

/** Delay from hearing a meme to the counted vote that passes it on. */
const voteAfterMs = (agent: number) => 1 + ((37 * agent) % 90);

const linksOf = ({ latency, loss }: On) =>
  new Links(
    { links: { latency, loss, duplication: 0, between: [] }, agents: [], population: 0 },
    { traces: new Map() },
    new Faults({ faults: [], population: 0 } as unknown as Scenario, '', 0),
  );

/** Times at which agents hear the first agent's meme; infinite if never. */
export function flooded(neighbours: number[][], on: On): number[] {
  const ids = neighbours.map((_, agent) => `agent_${agent}`);
  const observer = {
    ...{ event() {}, refused() {}, published() {} },
    ...{ traffic() {}, waited() {}, asked() {}, decided() {}, ignored() {} },
  };
  const knowledge = new Knowledge({
    links: linksOf(on),
    outbox: null,
    seedNumber: on.seed,
    neighbours,
    ordinals: new Ordinals(ids.map((id) => ({ id }))),
    head: '',
    observer,
    mutes: new Map(),
  });
  const caused = { note: null, memes: [MEME], bytes: 1 };
  const learn = (event: Omit<Event, 'seq'>, at: number, from = 0) =>
    knowledge.learn({ ...event, seq: 1 } as Event, at, { from, ...caused });
  learn({ type: 'block_proposal', data: proposal }, START - 1);
  learn({ type: 'meme_posted', data: posted(ids[0]!) }, START);
  const heardAt = neighbours.map((_, agent) => (agent === 0 ? START : Number.POSITIVE_INFINITY));
  for (let now = START, last = START; now <= last + QUIET_MS; now += 1) {
    for (const [agent, id] of ids.entries()) {
      if (agent === 0) continue;
      if (heardAt[agent]! + voteAfterMs(agent) === now) {
        learn({ type: 'block_validation', data: vote(id) }, now, agent);
        last = now;
      }
      const hears = heardAt[agent]! > now && knowledge.receivedMemes(agent, BLOCK, now).length > 0;
      if (hears) heardAt[agent] = now;
      if (hears) last = Math.max(last, now);
    }
  }
  return heardAt;
}

/** Dijkstra's algorithm; `hops` counts the messages on the path to each agent. */
export function shortest(neighbours: number[][], on: On): { heardAt: number[]; hops: number[] } {
  const links = linksOf(on);
  const heardAt = neighbours.map((_, agent) => (agent === 0 ? START : Number.POSITIVE_INFINITY));
  const hops = neighbours.map(() => 0);
  const left = new Set(neighbours.keys());
  while (left.size > 0) {
    const next = [...left].reduce((a, b) => (heardAt[b]! < heardAt[a]! ? b : a));
    left.delete(next);
    const kind = next === 0 ? 'gossip.meme' : 'gossip.vote';
    const name = messageName(on.seed, kind, next, 0, FIRST_BLOCK);
    const said = heardAt[next]! + (next === 0 ? 0 : voteAfterMs(next));
    if (said === Number.POSITIVE_INFINITY) break;
    for (const other of neighbours[next]!) {
      const at = links.arrival(name, next, other, said);
      if (at >= heardAt[other]!) continue;
      heardAt[other] = at;
      hops[other] = hops[next]! + 1;
    }
  }
  return { heardAt, hops };
}

const proposal: EventData['block_proposal'] = {
  block_hash: BLOCK,
  parent_hash: '',
  height: 1,
  producer: { id: 'agent_0', public_key: '' },
  transactions: [],
  meme_content: {},
  timestamp,
};

const posted = (id: string): EventData['meme_posted'] => ({
  meme_id: MEME,
  creator: { id, personality: '' },
  content: { type: 'text', url: '', caption: '' },
  tags: ['pro', `b_${BLOCK.slice(0, 12)}`],
  timestamp,
});

const vote = (id: string): EventData['block_validation'] => ({
  block_hash: BLOCK,
  validator: { id, personality: '' },
  decision: 'approve',
  reason: '',
  timestamp,
});
