/** Findings of the auditor in a history with one change. */
import {
  type Event,
  type EventData,
  type EventType,
  GENESIS_HASH,
  type Genesis,
  genesisDefaults,
} from 'folkmoot';
import { Auditor, type ObservedStep, type Violation, violationText } from 'folkmoot/sim';
import { refuse } from '../../../dist/engine/protocol/schema/reason.js';
import { instant, START_MS } from '../../support/citizens.js';
import { auditedTown } from './town.js';

/** 0..3 join; 4, 5 propose A, B; 6, 7 approve A; 8 finalizes A, orphans B; 9 proposes C. */
async function history() {
  const { town, puts, wait } = await auditedTown();
  const [ada, bob, cem, dan] = await town.joinMany(4, ['validator', 'producer']);
  const a = await town.open(ada!);
  await town.open(bob!);
  wait(1_000);
  for (const voter of [ada, bob, cem]) await town.vote(voter!, a);
  await town.open(dan!);
  return puts;
}

/** By `majority`: A and B have one vote each and one deadline; entry 6 comes after it. */
async function twins() {
  const { town, puts, wait } = await auditedTown({
    genesis: { policy: 'majority', participation_bps: 0 },
  });
  const [ada, bob] = await town.joinMany(2, ['validator', 'producer']);
  const blocks = [await town.open(ada!), await town.open(bob!)];
  for (const hash of blocks) await town.vote(ada!, hash);
  wait(31_000);
  await town.status(ada!, 'active');
  return puts;
}

type Change = (puts: ObservedStep[]) => void;

interface FindOptions {
  genesis?: Partial<Genesis>;
  /** False if events keep their numbers. */
  renumber?: boolean;
}

/** Returns the finding in a changed history. */
function found(puts: ObservedStep[], change: Change, options: FindOptions = {}): Violation | null {
  const { genesis = {}, renumber = true } = options;
  const changed = copied(puts);
  change(changed);
  const all = changed.flatMap(({ events }) => events);
  for (const [index, event] of all.entries()) if (renumber) event.seq = index + 1;
  const auditor = new Auditor({ ...plain, ...genesis });
  for (const put of changed) auditor.observe(put);
  return auditor.violation;
}

const plain = { network_id: 'devnet', ...genesisDefaults };

const listOf = (put: ObservedStep | undefined) => put!.events as Event[];

/** Data of the first (or a later) event of a type. */
function told<T extends EventType>(put: ObservedStep | undefined, type: T, nth = 0): EventData[T] {
  return listOf(put).filter((event) => event.type === type)[nth]!.data as EventData[T];
}

const answer = (put: ObservedStep | undefined) =>
  (put!.outcome as { data: object }).data as {
    height: number;
    tally: { approve: number; reject: number };
  };

const copied = <T>(value: T): T => structuredClone(value);
const refusal = {
  result: 'refused' as const,
  refusal: refuse('AGENT_NOT_ACTIVE', { agent_id: 'agent', status: 'inactive' }),
};

type Broken = [rule: string, change: Change];
const broken = (...of: Broken): Broken => of;

/** The violated rule, and the change that violates it. */
const changes: Broken[] = [
  broken('event-time', (puts) => (told(puts[7], 'block_validation').timestamp = instant(500))),
  broken('vote-once', (puts) => {
    puts.splice(7, 0, copied(puts[6]!));
    answer(puts[7]).tally.approve = 2;
  }),
  broken('tally', (puts) => (answer(puts[6]).tally.approve = 2)),
  broken('tally', (puts) => (told(puts[8], 'block_status').approve = 4)),
  broken('quorum', (puts) => {
    listOf(puts[7]).push(copied(listOf(puts[8])[1]!));
    told(puts[7], 'block_status').approve = 2;
  }),
  broken('quorum', (puts) => listOf(puts[8]).splice(1)),
  broken('vote-after-end', (puts) => puts.push(copied(puts[6]!))),
  broken('end-once', (puts) => listOf(puts[8]).push(copied(listOf(puts[8])[1]!))),
  broken('orphan', (puts) => listOf(puts[6]).push(copied(listOf(puts[8])[2]!))),
  broken('orphan', (puts) => listOf(puts[8]).splice(2, 1)),
  broken('extends-head', (puts) => (told(puts[9], 'block_proposal').parent_hash = GENESIS_HASH)),
  broken('height', (puts) => (told(puts[8], 'network_metrics').block_height = 0)),
  broken('open-blocks', (puts) => {
    told(puts[5], 'block_proposal').producer = told(puts[4], 'block_proposal').producer;
  }),
  broken('deadline', (puts) =>
    puts.splice(6, 0, { ...copied(puts[5]!), at: puts[6]!.at + 60_000, events: [] }),
  ),
  broken('vote', (puts) => (puts[6]!.outcome = refusal)),
  broken('proposal', (puts) => (puts[5]!.outcome = refusal)),
  broken('outcome', (puts) => Object.assign(puts[6]!, { outcome: refusal, events: [] })),
  broken('answer', (puts) => (answer(puts[5]).height = 2)),
  broken('event', (puts) => (told(puts[0], 'agent_status').reason = 'bored')),
];

test('audit: names the violated rule, with the found and expected values', async () => {
  const puts = await history();
  expect(found(puts, () => {})).toBeNull();
  for (const [rule, change] of changes) {
    const violation = found(puts, change);
    expect.soft(violation).toMatchObject({ rule });
    expect.soft(violation?.found).not.toBe(violation?.expected);
  }
});

test('audit: an omitted event shows in the sequence numbers', async () => {
  const change: Change = (puts) => listOf(puts[8]).splice(2, 1);
  expect(found(await history(), change, { renumber: false })).toMatchObject({
    ...{ rule: 'event-number', actor: 'event 12', expected: 'event 11' },
  });
});

test('audit: finds two final blocks of one height, both with a quorum', async () => {
  const puts = await twins();
  const options = { genesis: { policy: 'majority', participation_bps: 0 } } as const;
  expect(found(puts, () => {}, options)).toBeNull();
  const change: Change = (all) => (told(all[6], 'block_status', 1).status = 'finalized');
  expect(found(puts, change, options)).toMatchObject({ rule: 'one-block-a-height' });
});

test('audit: prints a violation in one readable line', async () => {
  const puts = await history();
  const text = (change: Change) => violationText(found(puts, change)!);
  expect(text((all) => listOf(all[8]).splice(1))).toBe(
    'rule quorum: block 7a788af0..: voting with 3 to 0 of 4 (needs 3), before the deadline; ' +
      'expected finalized (during vote, at 2025-01-01T00:00:01.000Z)',
  );
  expect(text((all) => Object.assign(all[6]!, { outcome: refusal, events: [] }))).toBe(
    'rule outcome: agent_d5f58d74a7a388b80295b6f3d6f09f10: refused NOT_ACTIVE; ' +
      'expected accepted (during vote on block 7a788af0.., at 2025-01-01T00:00:01.000Z)',
  );
});

test('audit: reports only the first violation', async () => {
  const puts = await history();
  const auditor = new Auditor(plain);
  const first = auditor.observe({ ...puts[0]!, events: [] });
  expect(first).toMatchObject({ rule: 'event', found: 'no event' });
  expect(auditor.observe(puts[0]!)).toBe(first);
  expect(auditor.violation).toBe(first);
});

test('audit: compares the final state', async () => {
  const { town, auditor } = await auditedTown();
  const ada = await town.join();
  const { read } = town.network;
  const views = [{ ...read.agent(ada.id)!, dormant: true }];
  const reads = {
    networkState: () => read.networkState(),
    agents: () => views,
    reputation: (id: string) => read.reputation(id),
    blocks: () => read.blocks(),
    alliances: () => read.alliances(),
  };
  expect(auditor.counts).toMatchObject({ agents: 1, height: 0, proposed: 0 });
  expect(auditor.finish(START_MS, reads)).toMatchObject({
    ...{ rule: 'read', actor: ada.id, found: 'dormant true', expected: 'false', during: 'end' },
  });
});
