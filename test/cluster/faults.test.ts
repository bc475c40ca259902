/**
 * Random faults between nodes and their order, with nodes that stop. Batches are repeated, late,
 * out of order or lost. All nodes reach the same state, and each acknowledged request is applied
 * once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createVerifier, Network, type Outcome, type SignedRequest, virtualClock } from 'folkmoot';
import type { Batch, OrderedBatch, Position } from '../../dist/cluster/order/order.js';
import { decodeEntry, splitStored } from '../../dist/engine/protocol/log.js';
import {
  agents,
  blockOf,
  endOf,
  expectSame,
  openNode,
  proposal,
  registration,
  type TestNode,
  vote,
} from '../support/cluster/nodes.js';
import { Door, MemoryOrder } from '../support/cluster/order.js';
import { counts } from '../support/counts.js';
import { temporaryFolder } from '../support/fixture.js';
import { drawnFrom, seed } from '../support/seeded.js';

/** A request and its answer. */
interface Asked {
  request: SignedRequest;
  outcome: Outcome;
}

/** Returns a request's signature, which for votes and proposals is in the body. */
const signatureOf = ({ signature, body }: Pick<SignedRequest, 'signature' | 'body'>): string =>
  signature || (JSON.parse(Buffer.from(body).toString()) as { signature: string }).signature;

/** Counts each signature in a node's log. */
function entriesOf({ network: { read } }: TestNode): Map<string, number> {
  const found = new Map<string, number>();
  for (const { bytes } of read.log.entries(1, read.position.seq)) {
    const entry = decodeEntry(splitStored(bytes).bytes);
    if (entry.kind === 'tick') continue;
    const signature = signatureOf(entry);
    found.set(signature, (found.get(signature) ?? 0) + 1);
  }
  return found;
}

/** Returns the problems in a history: acknowledged requests that are missing, and repeats. */
function wrongIn(asked: readonly Asked[], entries: ReadonlyMap<string, number>): string[] {
  const twice = [...entries.values()].filter((count) => count > 1).map(() => 'stands twice');
  const lost = asked
    .filter((o) => o.outcome.result === 'accepted' && !entries.get(signatureOf(o.request)))
    .map(({ request }) => `${request.kind} was acknowledged, and is not there`);
  return [...twice, ...lost];
}

/** Applies the batches to a network without an order, and returns its end. */
async function modelOf(order: MemoryOrder, last: number) {
  const { at, genesis } = order.founding!;
  const clock = virtualClock(at);
  const verifier = createVerifier('inline');
  const network = await Network.open({ memory: true, genesis, verifier, clock });
  for (let version = 1; version <= last; version += 1) {
    const { stamp, inputs } = order.batch(version);
    clock.set(Math.max(clock.now(), stamp));
    network.fireDeadlines();
    for (const { request } of inputs) await network.submit(await network.verify(request));
  }
  await network.durable;
  const { seq, event_seq, digest, log_digest } = network.read.position;
  await network.close();
  await verifier.close();
  return { seq, event_seq, digest, log_digest };
}

const faultNames = Object.keys(new Door(new MemoryOrder()).done) as (keyof Door['done'])[];
const hadAll = (doors: readonly Door[]) =>
  faultNames.every((fault) => doors.some(({ done }) => done[fault] > 0));

test('faults: all nodes reach the same state, with each acknowledged request once', async () => {
  const below = drawnFrom(seed);
  const random = () => below(1_000_000) / 1_000_000;
  const doors: Door[] = [];
  // Continues until each fault has occurred. Some faults need waiting batches, which occur at
  // random.
  for (let life = 0; life < counts.clusterLives || !hadAll(doors); life += 1) {
    const order = new MemoryOrder();
    const names = ['n1', 'n2', 'n3'];
    const faults = { random, rate: 0.05 + random() * 0.15 };
    const genesis = { voting_period_ms: 400 + below(1_000) };
    const paths = names.map(() => temporaryFolder());
    const open = (at: number) =>
      openNode(order, { name: names[at]!, path: paths[at]!, faults, genesis });
    const nodes = await Promise.all(names.map((_, at) => open(at)));
    const asked: Asked[] = [];
    const ask = async (request: SignedRequest) => {
      const outcome = await nodes[below(3)]!.submit(request);
      asked.push({ request, outcome });
      return outcome;
    };
    const context = `FOLKMOOT_TEST_SEED=${seed} life ${life}`;
    for (const by of agents) await ask(registration(by));
    for (let round = 0; round < 3; round += 1) {
      const head = nodes[0]!.network.read.networkState().head_hash;
      const opened = await Promise.all(
        agents.slice(0, 3).map((by) => ask(proposal(by, head)).catch(() => null)),
      );
      const blocks = opened.flatMap((one) => (one?.result === 'accepted' ? [blockOf(one)] : []));
      const votes = blocks.flatMap((block) =>
        agents.map((by) => ask(vote(by, block, below(3) ? 'approve' : 'reject'))),
      );
      // One node stops in the middle and restarts.
      const ends = below(3);
      await sleep(below(60));
      doors.push(nodes[ends]!.door);
      await nodes[ends]!.close();
      nodes[ends] = await open(ends);
      await Promise.all(votes);
    }
    await expectSame(order, nodes);
    for (const node of nodes) expect(wrongIn(asked, entriesOf(node)), context).toEqual([]);
    const { version, time: _, ...end } = endOf(nodes[0]!);
    expect(await modelOf(order, version), context).toEqual(end);
    expect(asked.filter(({ outcome }) => outcome.result === 'accepted').length).toBeGreaterThan(9);
    for (const node of nodes) {
      doors.push(node.door);
      await node.close();
    }
  }
});

/** Delivers a node's own batches before they are durable, and loses them when the node stops. */
class HastyDoor extends Door {
  readonly #own: Batch[] = [];
  #take: ((batch: OrderedBatch) => Promise<void>) | null = null;
  #next = 1;

  override async append(batch: Batch): Promise<void> {
    this.#own.push(batch);
    const position = { version: this.#next, revision: this.#next };
    this.#next += 1;
    await this.#take?.({ ...batch, position });
  }

  override follow(
    from: Position,
    take: (batch: OrderedBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    this.#take = take;
    this.#next = from.version + 1;
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  }
}

test('control: the check finds a request lost by a node that answers too early', async () => {
  const order = new MemoryOrder();
  const sound = await openNode(order, { name: 'n2' });
  const asked: Asked[] = [];
  const hasty = await openNode(order, { name: 'n1', door: new HastyDoor(order) });
  const request = registration(agents[0]!);
  asked.push({ request, outcome: await hasty.submit(request) });
  expect(asked[0]!.outcome).toMatchObject({ result: 'accepted' });
  await hasty.close();
  expect(await sound.submit(registration(agents[1]!))).toMatchObject({ result: 'accepted' });
  expect(wrongIn(asked, entriesOf(sound))).toEqual(['register was acknowledged, and is not there']);
});
