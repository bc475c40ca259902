/** Random histories on a real etcd and on the simulated one, through the same client. */
import type { EtcdClient, WatchBatch } from '../../../dist/cluster/etcd/client.js';
import { type EtcdMember, Member } from '../../../dist/cluster/etcd/member.js';
import type { Condition, Keys, Operation } from '../../../dist/cluster/etcd/values.js';
import { EtcdError } from '../../../dist/cluster/etcd/wire.js';
import { type HostClock, sleep } from '../../../dist/engine/store/host-clock.js';
import { simulatedEtcd } from '../../support/cluster/simulated.js';
import { counts } from '../../support/counts.js';
import { etcd, etcdClient, hasEtcd } from '../../support/etcd.js';
import { drawnFrom, seed } from '../../support/seeded.js';

type Below = (below: number) => number;

/** An operation with revisions relative to the start of the history, and leases by number. */
type Step =
  | { do: 'put'; key: string; value: string; lease: number }
  | { do: 'delete' | 'range'; keys: Keys; revision?: number; limit?: number; keysOnly?: boolean }
  | { do: 'serializable'; keys: Keys }
  | { do: 'page'; prefix: string; after: string }
  | { do: 'transact'; if: DrawnCondition[]; then: DrawnOperation[]; otherwise: DrawnOperation[] }
  | { do: 'compact'; revision: number }
  | { do: 'grant' }
  | { do: 'keep' | 'revoke'; lease: number }
  | { do: 'watch'; keys: Keys; from: number | null }
  | { do: 'alarm' | 'disarm' | 'alarms' };

type DrawnCondition = {
  key: string;
  is: '=' | '!=' | '<' | '>';
  of: 'version' | 'createRevision' | 'modRevision' | 'value' | 'lease';
  to: number;
};
type DrawnOperation =
  | { put: string; value: string; lease: number }
  | { get: Keys; limit: number; keysOnly: boolean }
  | { delete: Keys };

const KEYS = ['a', 'a/1', 'a/2', 'a0', 'b', ''] as const;
const VALUES = ['', 'x', 'y', 'long'.repeat(9)] as const;
/** Leases of a history. It begins with two, and the last ones may never be granted. */
const LEASES = 4;

const anyOf = <T>(below: Below, from: readonly T[]): T => from[below(from.length)]!;

/** Draws a key, rarely the invalid empty key. */
const keyIn = (below: Below): string => KEYS[below(KEYS.length - (below(20) === 0 ? 0 : 1))]!;
const keysIn = (below: Below): Keys =>
  below(2) === 0 ? keyIn(below) : { prefix: anyOf(below, ['', 'a', 'a/', 'b', 'c']) };
/** Draws the number of a lease, or 0 for a key without a lease. */
const leaseIn = (below: Below): number => (below(2) === 0 ? 1 + below(LEASES) : 0);

function operationIn(below: Below): DrawnOperation {
  const kind = below(5);
  if (kind < 2) return { put: keyIn(below), value: anyOf(below, VALUES), lease: leaseIn(below) };
  if (kind === 2) return { delete: keysIn(below) };
  return { get: keysIn(below), limit: below(3), keysOnly: below(2) === 0 };
}

const listIn = <T>(below: Below, most: number, one: (below: Below) => T): T[] =>
  Array.from({ length: below(most + 1) }, () => one(below));

const conditionIn = (below: Below): DrawnCondition => ({
  key: keyIn(below),
  is: anyOf(below, ['=', '=', '!=', '<', '>']),
  of: anyOf(below, ['version', 'createRevision', 'modRevision', 'value', 'lease']),
  to: below(6),
});

/** @param at number of steps so far, about the number of revisions. */
function stepIn(below: Below, at: number): Step {
  const kind = below(100);
  // Early revisions are more frequent, so that some of them are compacted.
  const revision = 1 + below(1 + below(at + 2));
  if (kind < 30) {
    return { do: 'put', key: keyIn(below), value: anyOf(below, VALUES), lease: leaseIn(below) };
  }
  if (kind < 40) return { do: 'delete', keys: keysIn(below) };
  if (kind < 50) {
    const how = { limit: below(3), keysOnly: below(2) === 0 };
    return { do: 'range', keys: keysIn(below), ...how, ...(below(2) === 0 ? { revision } : {}) };
  }
  if (kind < 53) return { do: 'serializable', keys: keysIn(below) };
  if (kind < 55) return { do: 'page', prefix: anyOf(below, ['', 'a']), after: keyIn(below) };
  if (kind < 75) {
    return {
      do: 'transact',
      if: listIn(below, 2, conditionIn),
      // biome-ignore lint/suspicious/noThenProperty: is never awaited.
      then: listIn(below, 4, operationIn),
      otherwise: listIn(below, 3, operationIn),
    };
  }
  if (kind < 79) return { do: 'compact', revision };
  if (kind < 82) return { do: 'grant' };
  if (kind < 84) return { do: 'keep', lease: 1 + below(LEASES) };
  if (kind < 90) return { do: 'revoke', lease: 1 + below(LEASES) };
  if (kind < 97) {
    const from = below(2) === 0 ? null : revision;
    return { do: 'watch', keys: keysIn(below) || 'a', from };
  }
  return { do: anyOf(below, ['alarm', 'disarm', 'disarm', 'alarms']) };
}

interface Subject {
  client: EtcdClient;
  /** Raises the space alarm of the only member. */
  alarm(memberId: string): Promise<unknown>;
}

/** Plays a history. Returns everything that its client sees, free of what differs by chance. */
class Player {
  readonly #subject: Subject;
  readonly #seen: unknown[] = [];
  readonly #leases: string[] = [];
  readonly #watches: { from: number; watch: AsyncGenerator<WatchBatch, void, undefined> }[] = [];
  #base = 0;
  #compacted = 0;
  #isCatchingUp = false;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  async play(steps: readonly Step[]): Promise<unknown[]> {
    const { client } = this.#subject;
    this.#base = (await client.range('a')).revision;
    for (const step of steps) this.#seen.push(await this.#try(() => this.#step(step)));
    await this.#end();
    return this.#seen;
  }

  /** Returns the result or the error, both without addresses. */
  async #try(work: () => Promise<unknown>): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      const { kind, outcome, member, compactRevision } = error;
      const text = error.message.replace(/^etcd at \S+: /, '').replace(/\d+/g, 'N');
      const oldest = compactRevision === null ? null : this.#relative(compactRevision);
      return { kind, outcome, member, oldest, text };
    }
  }

  async #step(step: Step): Promise<unknown> {
    const { client } = this.#subject;
    switch (step.do) {
      case 'put': {
        const { key, value, lease } = step;
        return this.#relative(await client.put(key, value, this.#lease(lease)));
      }
      case 'delete':
        return client.delete(step.keys);
      case 'range': {
        const { keys, revision, ...how } = step;
        const at = revision === undefined ? {} : { revision: this.#base + revision };
        return this.#shown(await client.range(keys, { ...how, ...at }));
      }
      case 'serializable':
        return this.#shown(await client.range(step.keys, { serializable: true }));
      case 'page':
        return this.#shown(await client.range({ prefix: step.prefix }, step));
      case 'transact':
        return this.#transact(step);
      case 'compact':
        // In etcd, a watch that catches up may be compacted first.
        if (this.#isCatchingUp) return null;
        await client.compact(this.#base + step.revision);
        this.#compacted = step.revision;
        return null;
      case 'watch':
        return this.#watch(step);
      default:
        return this.#operate(step);
    }
  }

  async #transact(step: Step & { do: 'transact' }): Promise<unknown> {
    const { client } = this.#subject;
    const done = await client.transact({
      if: step.if.map((one) => this.#condition(one)),
      do: step.then.map((one) => this.#operation(one)),
      otherwise: step.otherwise.map((one) => this.#operation(one)),
    });
    return this.#shown(done);
  }

  async #operate(step: Step): Promise<unknown> {
    const { client } = this.#subject;
    const { memberId } = (await client.status())[0] as { memberId: string };
    switch (step.do) {
      case 'grant': {
        const { id, seconds } = await client.grantLease(1_000);
        this.#leases.push(id);
        return seconds;
      }
      case 'keep':
        return client.keepLease(this.#lease(step.lease));
      case 'revoke':
        return client.revokeLease(this.#lease(step.lease));
      case 'alarm':
        await this.#subject.alarm(memberId);
        return null;
      case 'disarm':
        return client.disarm({ memberId, alarm: 'NOSPACE' });
      default:
        return (await client.alarms()).map(({ alarm }) => alarm);
    }
  }

  /** Opens a watch, which sees the rest of the history. */
  async #watch({ keys, from }: Step & { do: 'watch' }): Promise<unknown> {
    // A deletion at exactly the compacted revision may be missing in etcd 3.4.
    if (from === this.#compacted) return null;
    this.#isCatchingUp ||= from !== null;
    const options = from === null ? {} : { from: this.#base + from };
    const watch = this.#subject.client.watch(keys, options);
    const { value } = await watch.next();
    this.#watches.push({ from: from ?? 0, watch });
    return value ? value.events.length : null;
  }

  /** Ends the history in a way that every watch sees, and clears the store. */
  async #end(): Promise<void> {
    const { client } = this.#subject;
    for (const alarm of await client.alarms()) await client.disarm(alarm);
    const all = { prefix: '' };
    const ends = KEYS.filter((key) => key !== '').map((put) => ({ put, value: 'end' }));
    const { revision } = await client.transact({ do: [...ends, { put: 'c', value: '' }] });
    this.#seen.push(this.#shown(await client.range(all)));
    for (const { from, watch } of this.#watches) {
      if (this.#base + from > revision) await watch.return();
      else this.#seen.push(await this.#try(() => this.#drain(watch, revision)));
    }
    await client.delete(all);
    for (const lease of this.#leases) await client.revokeLease(lease);
  }

  async #drain(watch: AsyncGenerator<WatchBatch, void, undefined>, end: number): Promise<unknown> {
    const events: unknown[] = [];
    for (;;) {
      const { value, done } = await watch.next();
      if (done) return events;
      events.push(...value.events.map((event) => this.#shown(event)));
      if (value.events.at(-1)!.modRevision < end) continue;
      await watch.return();
      return events;
    }
  }

  #condition({ key, is, of, to }: DrawnCondition): Condition {
    if (of === 'value') return { key, is: is === '=' ? '=' : '!=', value: VALUES[to % 4]! };
    if (of === 'lease') return { key, is: is === '=' ? '=' : '!=', lease: this.#lease(to) };
    const number = of === 'version' || to === 0 ? to : this.#base + to;
    return { key, is, [of]: number } as Condition;
  }

  #operation(drawn: DrawnOperation): Operation {
    return 'put' in drawn ? { ...drawn, lease: this.#lease(drawn.lease) } : drawn;
  }

  #lease(number: number): string {
    return number === 0 ? '0' : (this.#leases[number - 1] ?? '7');
  }

  #relative(revision: number): number {
    return revision === 0 ? 0 : revision - this.#base;
  }

  /** Replaces revisions by relative ones, and leases by numbers. */
  #shown(value: unknown): unknown {
    if (Buffer.isBuffer(value)) return value.toString();
    if (Array.isArray(value)) return value.map((one) => this.#shown(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => {
        if (/revision/i.test(name)) return [name, this.#relative(one as number)];
        if (name === 'lease' && one !== '0') return [name, this.#leases.indexOf(one as string) + 1];
        return [name, this.#shown(one)];
      }),
    );
  }
}

const limits = { connectMs: 1_000, callMs: 5_000 };

/** @param member through which the alarm is raised, for which the client has no call. */
const subjectOf = (client: EtcdClient, member: EtcdMember): Subject => ({
  client,
  alarm: (memberID) =>
    member.call('Maintenance/Alarm', { action: 'ACTIVATE', memberID, alarm: 'NOSPACE' }, limits),
});

function historyOf(drawn: number): Step[] {
  const below = drawnFrom(drawn);
  return Array.from({ length: 5 + below(30) }, (_, at) =>
    at < 2 ? { do: 'grant' } : stepIn(below, at),
  );
}

describe.skipIf(!hasEtcd)('simulated etcd (needs etcd-server)', () => {
  test(`simulated etcd: ${counts.etcdHistories} histories are those of the real one`, async () => {
    // No history waits for a disk.
    const real = await etcd({ parent: '/dev/shm' });
    const member = new Member(real.endpoints[0]!, undefined);
    onTestFinished(() => member.close());
    const subject = subjectOf(etcdClient(real), member);
    const kinds = new Set<unknown>();
    for (let history = 0; history < counts.etcdHistories; history += 1) {
      const steps = historyOf(seed + history);
      const theirs = await new Player(subject).play(steps);
      const { etcd, client, stop } = simulatedEtcd(seed + history, { members: 1 });
      const connection = etcd.connect(etcd.endpoints[0]!, 'n1');
      const ours = await new Player(subjectOf(client(), connection)).play(steps);
      stop();
      const text = `history ${history} of seed ${seed}: ${JSON.stringify(steps, null, 1)}`;
      expect(ours, text).toEqual(theirs);
      for (const one of ours) kinds.add((one as { kind?: string } | null)?.kind);
    }
    // The histories reach what they are about.
    const reached = ['compacted', 'no_lease', 'out_of_space', 'refused', undefined];
    expect([...kinds].sort()).toEqual(reached);
  });

  test('simulated etcd: leases expire together with their keys, and no other', async () => {
    const [real, { client }] = [await etcd({ parent: '/dev/shm' }), simulatedEtcd(seed)];
    const clients = [etcdClient(real), client()];
    const seen = clients.map((one) => expiries(one, one.clock));
    const [theirs, ours] = await Promise.all(seen);
    expect(ours).toEqual(theirs);
  });
});

/** Lets leases expire. Returns the events by lease, since leases may expire in any order. */
async function expiries(client: EtcdClient, clock: HostClock): Promise<unknown> {
  const watch = client.watch({ prefix: 'k/' });
  await watch.next();
  const below = drawnFrom(seed);
  const leases = [];
  for (let lease = 0; lease < 20; lease += 1) {
    const { id, seconds } = await client.grantLease(1 + below(2));
    leases.push({ id, seconds });
    for (const key of [2, 1, 3]) await client.put(`k/${lease}/${key}`, 'v', id);
    if (below(3) === 0) await client.put(`k/${lease}/1`, 'kept');
    if (below(3) === 0) await client.delete(`k/${lease}/3`);
  }
  const kept = await client.grantLease(100);
  await client.put('k/kept', 'v', kept.id);
  await sleep(clock, 6_000);
  await client.put('k/last', '');
  const events: Record<string, string[]> = {};
  for (let isOver = false; !isOver; ) {
    const { value } = await watch.next();
    const batches = new Map<number, string[]>();
    for (const { key, type, modRevision } of value!.events) {
      const [, lease, name] = key.split('/');
      const group = batches.get(modRevision) ?? [];
      batches.set(modRevision, [...group, `${type} ${name}`]);
      events[lease!] ??= [];
      if (group.length === 0) events[lease!]!.push('');
      events[lease!]!.push(`${type} ${name}`);
      isOver ||= key === 'k/last';
    }
  }
  await watch.return();
  const left = await client.range({ prefix: 'k/' });
  const [first] = leases;
  const expired = await client.keepLease(first!.id).catch(({ kind }) => kind);
  const seconds = leases.map((one) => one.seconds);
  return { events, seconds, expired, left: left.values.map(({ key }) => key) };
}
