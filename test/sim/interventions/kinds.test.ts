/** Each kind of intervention has its effect, and leaves everything before it unchanged. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { bodyOf, csvRows, type Line, logLines, replayHere } from '../../support/runs.js';
import type { Raw } from '../fixture.js';
import { type Kept, lively, parting, runsHere } from './world.js';

const run = runsHere();

let base: Kept;
let lines: Line[];

beforeAll(async () => {
  base = await run(lively());
  lines = await logLines(base.folder);
});

/** Runs with the intervention, and compares the prefix with the run without it. */
async function forked(intervention: Raw) {
  const fork = await run(lively(), [intervention]);
  const [acted] = fork.result.interventions!;
  const parts = await parting(base, fork);
  expect(parts, acted!.what).not.toBe(null);
  expect(parts!.seq, acted!.what).toBeGreaterThan(acted!.entry!);
  expect((await logLines(fork.folder))[acted!.entry!]!.digest).toBe(lines[acted!.entry!]!.digest);
  expect(fork.result.broken).toBe(null);
  expect((await replayHere(join(fork.folder, 'network'), false)).match).toBe(true);
  return { fork, acted: acted!, parts: parts!, log: await logLines(fork.folder) };
}

const keyOf = (agent: number): string => {
  const { name } = csvRows(join(base.folder, 'agents.csv'))[agent] as { name: string };
  return lines.find(
    ({ kind, body }) => kind === 'register' && bodyOf<{ name: string }>(body).name === name,
  )!.public_key;
};
const votesOn = (log: readonly Line[], hash: string) =>
  log
    .filter(({ kind }) => kind === 'vote')
    .map(({ public_key, body }) => ({
      public_key,
      ...bodyOf<{ block_hash: string; decision: string; meme_references: string[] }>(body),
    }))
    .filter(({ block_hash }) => block_hash === hash);
const hashOf = (number: number) => csvRows(join(base.folder, 'blocks.csv'))[number]!.block_hash!;

/** Mean number of agents that hear of the end of a block. Lost copies are sent again. */
function hearersOf({ result, folder }: Kept): number {
  const { sent, lost } = result.messages['event.close']!;
  const closed = csvRows(join(folder, 'blocks.csv')).filter(({ status }) => status !== 'voting');
  return (sent - lost) / closed.length;
}

test('silence: an agent sends nothing more, and its earlier messages arrive', async () => {
  const { acted, log } = await forked({ kind: 'silence', whom: [{ agent: 2 }], at_ms: 15_000 });
  const from = log[acted.entry!]!.at;
  const later = log.filter(({ public_key, at }) => public_key === keyOf(2) && at > from + 2_000);
  expect(later).toEqual([]);
  expect(lines.filter((l) => l.public_key === keyOf(2) && l.at > from + 2_000)).not.toEqual([]);
});

test('remove: agents leave for good, with status inactive', async () => {
  const whom = [{ group: 'hill', count: 3 }];
  const { fork, acted } = await forked({ kind: 'remove', whom, at_height: 3 });
  expect(acted.did).toBe(3);
  const gone = csvRows(join(fork.folder, 'agents.csv')).filter((a) => a.status === 'inactive');
  expect(gone.filter(({ group }) => group === 'hill').length).toBe(3);
  expect(hearersOf(base)).toBe(30);
  expect(hearersOf(fork)).toBeGreaterThan(27);
  expect(hearersOf(fork)).toBeLessThan(30);
});

test.each(['approve', 'reject'] as const)('vote: an abstainer votes %s', async (decision) => {
  const { acted, log } = await forked({ kind: 'vote', agent: 28, block: 4, decision, at_ms: 0 });
  expect(acted.did).toBe(1);
  const [vote] = votesOn(log, hashOf(4)).filter(({ public_key }) => public_key === keyOf(28));
  expect(vote!.decision).toBe(decision);
});

test('vote: changes the decision alone, or removes the vote', async () => {
  const own = votesOn(lines, hashOf(3))[2]!;
  const agent = csvRows(join(base.folder, 'agents.csv')).findIndex(
    (_, ordinal) => keyOf(ordinal) === own.public_key,
  );
  const decision = own.decision === 'approve' ? 'reject' : 'approve';
  const changed = await forked({ kind: 'vote', agent, block: hashOf(3), decision, at_ms: 0 });
  expect([changed.parts.kind, changed.parts.path]).toEqual(['vote', 'body.decision']);
  const none = await forked({ kind: 'vote', agent, block: 3, decision: 'none', at_ms: 0 });
  const voters = votesOn(none.log, hashOf(3)).map(({ public_key }) => public_key);
  expect(voters).not.toContain(own.public_key);
});

test('mute: no vote refers to the meme, and other memes are still posted', async () => {
  const referred = lines
    .filter(({ kind }) => kind === 'vote')
    .flatMap(({ body }) => bodyOf<{ meme_references: string[] }>(body).meme_references);
  const { fork, acted, log } = await forked({ kind: 'mute', meme: referred[0]!, at_ms: 0 });
  expect(acted.did).toBe(1);
  const votes = log.filter(({ kind }) => kind === 'vote').map(({ body }) => body);
  expect(votes.filter((body) => body.includes(referred[0]!))).toEqual([]);
  expect(log.some(({ kind }) => kind === 'meme')).toBe(true);
  expect(fork.result.measures.memes).toBeGreaterThan(0);
});

test('mute: muting all memes of all authors leaves no influence', async () => {
  const { fork, acted } = await forked({ kind: 'mute', whom: [{}], at_ms: 0 });
  expect(acted.did).toBe(fork.result.measures.memes);
  expect(fork.result.messages['gossip.meme'].sent).toBe(0);
  expect(
    (await logLines(fork.folder))
      .filter(({ kind }) => kind === 'vote')
      .filter(({ body }) => bodyOf<{ meme_references: string[] }>(body).meme_references.length > 0),
  ).toEqual([]);
});

test('drop: neither a block nor its duplicate arrives', async () => {
  const { acted, log } = await forked({ kind: 'drop', block: 3, at_ms: 0 });
  expect(acted.did).toBe(1);
  expect(log.some(({ kind, body }) => kind === 'propose' && body.includes(hashOf(3)))).toBe(false);
});

test('drop: copies of the proposal count once', async () => {
  const scenario = completeScenario({
    ...{ title: 't', agents: [{ group: 'a', count: 6, producers: 1 }], links: { duplication: 1 } },
    ...{ interventions: [{ kind: 'drop', block: 0, at_ms: 0 }], length: { blocks: 2 } },
  });
  const { interventions, measures } = await simulate(scenario, { store: 'memory' });
  expect(measures.messages_duplicated).toBeGreaterThan(0);
  expect(interventions![0]!.did).toBe(1);
});

test('drop: an alliance never forms; dissolve: its members leave it', async () => {
  const founded = lines.filter(({ kind }) => kind === 'alliance_propose');
  const { log } = await forked({ kind: 'drop', alliance: 0, at_ms: 0 });
  const asked = (line: Line) => `${line.kind} ${line.public_key} ${line.timestamp}`;
  expect(log.map(asked)).not.toContain(asked(founded[0]!));
  const accepted = lines.find((l) => l.kind === 'alliance_respond' && l.body.includes('true'))!;
  const alliance = accepted.target.match(/ally_[0-9a-f]{32}/)![0];
  const dissolved = await forked({ kind: 'dissolve', alliance, at_entry: accepted.seq });
  expect(dissolved.acted.did).toBeGreaterThan(1);
  expect(dissolved.log[dissolved.parts.seq]!.kind).toBe('alliance_leave');
});

test('strategy, traits: change the behaviour of agents from then on', async () => {
  const liars = { kind: 'flip_flop' };
  await forked({ kind: 'strategy', whom: [{ group: 'town' }], strategy: liars, at_height: 2 });
  const careless = { kind: 'traits', whom: [{ group: 'town' }], traits: { care: 0 } };
  const { fork } = await forked({ ...careless, at_condition: { measure: 'closed', at_least: 4 } });
  const sound = csvRows(join(fork.folder, 'blocks.csv')).map(({ soundness }) => Number(soundness));
  expect(sound.slice(6)).toContain(0);
});

test('set: changes a rate, and the loss of all links, from then on', async () => {
  const none = { kind: 'set', path: 'social.memes.rate', value: 0, at_height: 2 };
  const { acted, log } = await forked(none);
  const at = log[acted.entry!]!.at;
  expect(log.filter((line) => line.kind === 'meme' && line.at > at + 2_000)).toEqual([]);
  const { fork } = await forked({ kind: 'set', path: 'links.loss', value: 1, at_ms: 20_000 });
  expect(fork.result.verdict).toBe('no_progress');
});

test('link: loses messages between an agent and the network', async () => {
  const { fork } = await forked({ kind: 'link', between: [0, 'network'], loss: 1, at_ms: 15_000 });
  const [agent] = csvRows(join(fork.folder, 'agents.csv'));
  const [before] = csvRows(join(base.folder, 'agents.csv'));
  expect(Number(agent!.votes)).toBeLessThan(Number(before!.votes));
});

test('interventions: reports an intervention without effect', async () => {
  const { result, folder } = await run(lively(), [
    { kind: 'silence', whom: [{ agent: 1 }], at_entry: 1_000_000 },
  ]);
  expect(result.interventions).toEqual([
    { what: 'silence agent 1', when: 'at entry 1000000', at_ms: null, entry: null, did: 0 },
  ]);
  expect(result.censored).toContainEqual(
    expect.stringMatching(/^interventions\.0 \(silence agent 1\) .*: at entry 1000000$/),
  );
  expect(result.digest).toBe(base.result.digest);
  expect(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')).interventions).toEqual(
    result.interventions,
  );
});

test('redraw: changes the randomness from then on, determined by its seed', async () => {
  const redraw = (seed: string) => ({ kind: 'redraw', seed, at_ms: 15_000 });
  const { fork, acted } = await forked(redraw('a'));
  expect(acted.did).toBe(fork.result.scenario.population);
  expect((await run(lively(), [redraw('a')])).result.digest).toBe(fork.result.digest);
  expect((await run(lively(), [redraw('b')])).result.digest).not.toBe(fork.result.digest);
});

/** One block after 5 s, and no other for two minutes. */
const still = (sections: Raw = {}): Raw => ({
  title: 'A still town',
  signatures: 'none',
  agents: [{ group: 'town', count: 6, producers: 1 }],
  social: {
    ...{ memes: { rate: 0 }, discussion: { rate: 0 }, alliances: { rate: 0 }, breaks: { rate: 0 } },
    occasion_ms: 3_600_000,
  },
  producers: { schedule: 'round_robin', block_interval_ms: 120_000 },
  consensus: { policy: 'majority' },
  length: { virtual_ms: 130_000 },
  ...sections,
});

test.each([
  [{ measure: 'closed', at_least: 1, held_ms: 100_000 }],
  [{ measure: 'closed', at_least: 1, held_ms: 33_333 }],
])('interventions: a held condition acts when it would end a run: %j', async (held) => {
  const silence = { kind: 'silence', whom: [{ agent: 1 }], at_condition: held };
  const { result } = await run(still(), [silence]);
  const ended = await run(still({ length: { until: held } }));
  const [{ at_ms } = { at_ms: null }] = result.interventions!;
  expect(ended.result.ended_by).toMatch(/^until /);
  // The end of a run is exact. An intervention acts at the end of the window of at most 50 ms.
  expect(at_ms).toBeGreaterThanOrEqual(ended.result.virtual_ms);
  expect(at_ms).toBeLessThan(ended.result.virtual_ms + 50);
  expect(ended.result.virtual_ms).toBeLessThan(111_000);
});
