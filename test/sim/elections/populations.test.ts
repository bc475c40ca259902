/** Populations with ballots of election data, and with preferences drawn from a culture. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { checkCertificate, type Event } from 'folkmoot';
import { completeScenario, loadScenario, simulate, withValues } from 'folkmoot/sim';
import { summary } from '../../../dist/cli/commands/sim-summary.js';
import { sha256Hex } from '../../../dist/engine/protocol/signing.js';
import { findDataType, readElection } from '../../../dist/sim/elections/election-data.js';
import { findBallotForm } from '../../../dist/sim/elections/rule-ballots.js';
import type { DescribedRecount } from '../../../dist/sim/rules/recount.js';
import { certificateOf } from '../../engine/certificate/town.js';
import { createRule } from '../../engine/rules/polls.js';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';
import { csvRows, openForReading, replayHere } from '../../support/runs.js';
import { nearby, quiet, type Raw } from '../fixture.js';
import { errorOf } from '../scenario/wrong.js';

const header = (type: string, names: readonly string[]) => [
  ...[`# DATA TYPE: ${type}`, `# NUMBER ALTERNATIVES: ${names.length}`],
  ...names.map((name, at) => `# ALTERNATIVE NAME ${at + 1}: ${name}`),
];
const dataOf = (type: string, orders: readonly string[], names = ['A a', 'B b', 'C c', 'D d']) =>
  [...header(type, names), ...orders, ''].join('\n');

interface Town {
  file?: string;
  text?: string;
  policy?: string;
  count?: number;
  strategy?: Raw;
  sections?: Raw;
}

/** Writes a scenario of one group with a strategy. Returns the scenario's file. */
function town({ file = 'data.soc', text, policy = 'schulze', ...more }: Town) {
  const { count = 5, strategy = { kind: 'ballots', file }, sections = {} } = more;
  const folder = temporaryFolder();
  if (text !== undefined) writeFileSync(join(folder, file), text);
  const raw = {
    title: 'a test',
    signatures: 'none',
    agents: [{ group: 'voters', count, producers: 1, traits: { abstains: 0 }, strategy }],
    social: quiet,
    links: nearby,
    consensus: { policy, voting_period_ms: 8_000, dormant_after: 0 },
    length: { blocks: 1 },
    ...sections,
  };
  const path = join(folder, 'town.json');
  writeFileSync(path, JSON.stringify(raw, null, 1));
  return path;
}

/** Runs a scenario. Returns its result, blocks and ballots. */
async function hold(path: string) {
  const { scenario, folder } = loadScenario(path);
  const out = join(temporaryFolder(), 'run');
  const result = await simulate(scenario, { folder, out });
  expect(result.verdict).toBe('pass');
  const store = openForReading(join(out, 'network'));
  const events = [...store.events(1, store.meta()!.event_seq)].map(
    ({ json }) => JSON.parse(json) as Event,
  );
  await store.close();
  const votes = events.flatMap(({ type, data }) => (type === 'block_validation' ? [data] : []));
  return { out, result, votes, blocks: csvRows(join(out, 'blocks.csv')) };
}

test.each([
  ['plurality', 'Memphis', { Memphis: 42, Nashville: 26, Chattanooga: 15, Knoxville: 17 }],
  ['instant_runoff', 'Knoxville', { Memphis: 42, Nashville: 26, Chattanooga: 15, Knoxville: 58 }],
  ['borda', 'Nashville', { Memphis: 126, Nashville: 194, Chattanooga: 173, Knoxville: 107 }],
  ['ranked_pairs', 'Nashville', { Memphis: 0, Nashville: 3, Chattanooga: 2, Knoxville: 1 }],
])('capital: %s chooses %s', async (policy, choice, standings) => {
  const { raw, folder } = loadScenario('capital');
  const changes = [
    ['consensus.policy', policy],
    ['length.blocks', 1],
  ] as const;
  const scenario = completeScenario(withValues(raw, changes), folder);
  const out = join(temporaryFolder(), 'run');
  const result = await simulate(scenario, { folder, out, verifier: 'inline' });
  const data = readFileSync(join(folder, 'elections/tennessee.soc'), 'utf8');
  expect(result.verdict).toBe('pass');
  expect(result.files).toEqual({ 'elections/tennessee.soc': sha256Hex(data) });
  const [block] = csvRows(join(out, 'blocks.csv'));
  expect(block).toMatchObject({ status: 'finalized', choice, votes: '100' });
  expect(JSON.parse(block!.standings!)).toEqual(standings);
  if (policy !== 'ranked_pairs') return;
  const path = join(out, 'network');
  expect(await replayHere(path)).toMatchObject({ match: true });
  const checked = checkCertificate(await certificateOf({ path }, block!.block_hash!));
  expect(checked).toMatchObject({ holds: true, claim: { status: 'finalized', choice } });
  const again = await simulate(scenario, { folder, store: 'memory', verifier: 'off' });
  expect(again.digest).toBe(result.digest);
});

describe('ballots of a file', () => {
  const orders = ['2: 1,2,3,4', '2: 3,1,2,4', '1: 4,3,2,1'];

  const rankings = [
    { ranking: ['A-a', 'B-b', 'C-c', 'D-d'] },
    { ranking: ['C-c', 'A-a', 'B-b', 'D-d'] },
    { ranking: ['D-d', 'C-c', 'B-b', 'A-a'] },
  ];
  const scores = [
    { scores: { 'A-a': 10, 'B-b': 6, 'C-c': 3, 'D-d': 0 } },
    { scores: { 'C-c': 10, 'A-a': 6, 'B-b': 3, 'D-d': 0 } },
    { scores: { 'D-d': 10, 'C-c': 6, 'B-b': 3, 'A-a': 0 } },
  ];

  test.each<[policy: string, ballots: Raw[]]>([
    ['borda', rankings],
    ['plurality', [{ option: 'A-a' }, { option: 'C-c' }, { option: 'D-d' }]],
    ['approval', [{ approved: ['A-a'] }, { approved: ['C-c'] }, { approved: ['D-d'] }]],
    ['score', scores],
  ])('have the form of the rule %s, one per agent in order', async (policy, expected) => {
    const { votes } = await hold(town({ text: dataOf('soc', orders), policy }));
    expect(new Map(votes.map(({ validator, ballot }) => [validator.id, ballot])).size).toBe(5);
    const counts = expected.map(
      (ballot) =>
        votes.filter((vote) => JSON.stringify(vote.ballot) === canonicalText(ballot)).length,
    );
    expect(counts).toEqual([2, 2, 1]);
  });

  test('are ignored by rules without ballots, and absent where all options are equal', async () => {
    const { votes } = await hold(town({ text: dataOf('soc', orders), policy: 'majority' }));
    expect(votes.map(({ decision, ballot }) => [decision, ballot])).toEqual(
      Array(5).fill(['approve', undefined]),
    );
    const tied = town({ file: 'data.toc', text: dataOf('toc', ['4: {1,2,3,4}', '1: 2,{1,3,4}']) });
    const ballots = (await hold(tied)).votes.map(({ ballot }) => ballot);
    expect(ballots.filter((ballot) => ballot === undefined)).toHaveLength(4);
    expect(ballots).toContainEqual({ ranking: ['B-b'] });
  });

  test('of approvals reject the block if they approve nothing', async () => {
    const text = [
      ...['META', 'key;value', 'vote_type;approval', 'PROJECTS', 'project_id;cost'],
      ...['7;1', '9;1', 'VOTES', 'voter_id;vote', 'a;7,9', 'b;9', 'c;9', 'd;9', 'e;', ''],
    ].join('\n');
    const { votes, blocks } = await hold(town({ file: 'data.pb', text, policy: 'approval' }));
    expect(votes.filter(({ decision }) => decision === 'reject')).toHaveLength(1);
    expect(blocks[0]).toMatchObject({ choice: '9', reject: '1' });
    expect(JSON.parse(blocks[0]!.standings!)).toEqual({ 7: 1, 9: 4 });
  });

  test('can be drawn, restricted to some options, with ties in the order of the list', async () => {
    const strategy = { kind: 'ballots', file: 'data.toi', take: 'drawn', ties: 'list' };
    const text = dataOf('toi', ['99: {3,1},2']);
    const sections = { producers: { options: ['B-b', 'A-a', 'X'] } };
    const { votes } = await hold(town({ file: 'data.toi', text, strategy, sections, count: 3 }));
    expect(votes.map(({ ballot }) => ballot)).toEqual(Array(3).fill({ ranking: ['A-a', 'B-b'] }));
  });

  test.each([
    ['schulze', { ranking: [['A-a', 'B-b'], 'C-c', 'D-d'] }, undefined],
    ['instant_runoff', { ranking: ['A-a', 'B-b', 'C-c', 'D-d'] }, { listed: 3, converted: 2 }],
    ['plurality', { option: 'A-a' }, { listed: 3, converted: 2 }],
    ['approval', { approved: ['A-a', 'B-b'] }, undefined],
  ])('with ties reach %s, and the result names those with broken ties', async (...given) => {
    const [policy, ballot, uses = { converted: 5 }] = given;
    const strategy = { kind: 'ballots', file: 'data.toc', ties: 'list' };
    const text = dataOf('toc', ['3: {2,1},3,4', '1: 3,{1,2,4}', '1: 4,1,2,3']);
    const { result, votes } = await hold(town({ file: 'data.toc', text, strategy, policy }));
    expect(votes.filter((vote) => isDeepStrictEqual(vote.ballot, ballot))).toHaveLength(3);
    expect(result.elections?.['data.toc']?.ballots).toEqual(uses);
    const dropping = { ...strategy, ties: 'drop' };
    const dropped = await hold(town({ file: 'data.toc', text, strategy: dropping, policy }));
    const cast = dropped.votes.filter((vote) => vote.ballot !== undefined);
    expect(cast).toHaveLength('listed' in uses ? 2 : 5);
  });

  test('with more points than scores have one scale', async () => {
    const text = [
      ...['META', 'key;value', 'vote_type;cumulative', 'PROJECTS', 'project_id;cost', 'A;1', 'B;1'],
      ...['VOTES', 'voter_id;vote;points', '1;A,B;9,8', '2;A,B;9,8', '3;A,B;9,8', '4;A,B;9,8'],
      ...['5;B,A;11,10', ''],
    ].join('\n');
    const { result, blocks } = await hold(town({ file: 'data.pb', text, policy: 'score' }));
    expect(result.elections?.['data.pb']).toMatchObject({ scale: { from: 11, to: 10 } });
    expect(JSON.parse(blocks[0]!.standings!)).toEqual({ A: 4 * 8 + 9, B: 4 * 7 + 10 });
  });

  test('mark a tie in the result and in blocks.csv', async () => {
    const text = dataOf('soc', ['4: 1,2,3', '3: 2,3,1', '3: 3,1,2'], ['Ann', 'Bob', 'Cal']);
    const { blocks, result } = await hold(town({ text, policy: 'instant_runoff', count: 10 }));
    expect(blocks[0]).toMatchObject({ choice: 'Ann', tied: '["Ann","Cal"]' });
    const tie = { step: 'elimination 1', winners: ['Ann', 'Cal'], exact: true };
    const { block_hash } = blocks[0]!;
    expect(result.tied).toEqual([{ number: 0, block_hash, ...tie }]);
    expect(summary(result).filter((line) => line.startsWith('tied'))).toEqual([
      expect.stringMatching(/^tied +block 0: .*Ann or Cal/),
    ]);
  });

  test('keep the names of alternatives as labels, in tables and in exports', async () => {
    const names = ['Zoë', 'Zoé', '東京', 'plain'];
    const text = dataOf('soc', ['3: 1,2,3,4', '2: 3,1,2,4'], names);
    const { out, result, blocks } = await hold(town({ text }));
    expect(result.elections?.['data.soc']?.labels).toEqual({
      ...{ Zo: 'Zoë', 'Zo-2': 'Zoé', 'option-3': '東京' },
    });
    expect(blocks[0]).toMatchObject({ choice: 'Zo', choice_label: 'Zoë' });
    const found = JSON.parse(
      (await runCommand(['recount', out, '--rule', 'borda', '--json'])).stdout,
    ) as DescribedRecount;
    expect(found.blocks[0]!.labels).toMatchObject({ Zo: 'Zoë' });
    const counted = await runCommand(['recount', out, '--rule', 'plurality']);
    expect(counted.stdout).not.toContain('Zo-2');
    const ballots = join(temporaryFolder(), 'ballots');
    const exported = await runCommand(['events', out, '--format', 'preflib', '--out', ballots]);
    expect(exported.code, exported.stderr).toBe(0);
    const [file] = readdirSync(ballots);
    const read = readElection(readFileSync(join(ballots, file!), 'utf8'), findDataType(file!));
    expect(read.alternatives).toEqual(names);
    expect(summary(result).join('\n')).toContain('東京');
  });

  test('of Burlington 2009, drawn by 400 agents, have similar shares', async () => {
    const path = town({
      strategy: { kind: 'ballots', file: 'burlington-2009.soi', take: 'drawn' },
      ...{ count: 400, policy: 'plurality' },
    });
    const data = join(root, 'test/sim/elections/burlington-2009.soi');
    copyFileSync(data, join(path, '..', 'burlington-2009.soi'));
    const { blocks } = await hold(path);
    const standings = JSON.parse(blocks[0]!.standings!) as Record<string, number>;
    const expected = { 'Bob-Kiss': 2_981, 'Andy-Montroll': 2_554, 'Kurt-Wright': 3_294 };
    for (const [name, count] of Object.entries(expected)) {
      // Four standard deviations of a binomial distribution.
      const share = count / 8_829;
      const width = 4 * Math.sqrt(400 * share * (1 - share));
      expect(Math.abs(standings[name]! - 400 * share)).toBeLessThan(width);
    }
  });

  const many = Array.from({ length: 17 }, (_, at) => `n${at}`);
  const sections = { producers: { options: ['x', 'y'] } };

  test.each<[what: string, expected: RegExp, text: string, more: Town, code?: string]>([
    ['bad line', /line 7: incomplete/, dataOf('soc', ['5: 1,2']), {}],
    ['an unknown type', /unknown type/, 'x', { file: 'data.csv' }],
    ['too few ballots', /4 .* 5/, dataOf('soc', ['4: 1,2,3,4']), {}, 'WRONG_VOTERS'],
    ['too many ballots', /6 .* 5/, dataOf('soc', ['6: 1,2,3,4']), {}, 'WRONG_VOTERS'],
    [
      'a tie in a ranking',
      /line 8: tie: A-a, B-b/,
      dataOf('toc', ['4: 1,2,3,4', '1: {1,2},3,4']),
      { file: 'data.toc', policy: 'instant_runoff' },
    ],
    ['one alternative', /alternatives: 1/, dataOf('soc', ['5: 1'], ['A']), {}],
    ['many alternatives', /alternatives: 17/, dataOf('soi', ['5: 1'], many), { file: 'data.soi' }],
    ['other options', /x, y/, dataOf('soc', ['5: 1,2,3,4']), { sections }],
  ])('are refused for %s, with file, line and key', (...row) => {
    const [, expected, text, more, code = 'INVALID_ELECTION'] = row;
    const path = town({ text, ...more });
    const error = errorOf(() => loadScenario(path));
    expect(error.problem).toMatchObject({ path: ['agents', '0', 'strategy', 'file'], code });
    expect(error.message).toMatch(/town\.json:\d+: agents\.0\.strategy\.file is data\.\w+/);
    expect(error.message).toMatch(expected);
    expect(error.message).not.toContain('\n');
  });
});

/** Formats a ballot as events contain it, with sorted members. */
function canonicalText(ballot: Raw): string {
  return JSON.stringify(ballot, (_, value) =>
    typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

describe('cultures', () => {
  const options = ['a', 'b', 'c'];
  const culture = (strategy: Raw, policy = 'schulze', sections: Raw = {}) =>
    town({
      strategy: { kind: 'culture', ...strategy },
      ...{ policy, count: 60 },
      sections: { producers: { options, schedule: 'round_robin' }, ...sections },
    });
  const rankings = (votes: readonly { ballot?: unknown }[]) =>
    votes.map(({ ballot }) => (ballot as { ranking: string[] }).ranking.join(''));

  test('impartial: all six rankings occur, and different blocks draw different ones', async () => {
    const { votes, blocks } = await hold(culture({}, 'schulze', { length: { blocks: 2 } }));
    expect(new Set(rankings(votes)).size).toBe(6);
    const [first, second] = blocks.map(({ standings }) => standings);
    expect(first).not.toBe(second);
    const fixed = await hold(culture({ draws: 'run' }, 'borda', { length: { blocks: 2 } }));
    expect(fixed.blocks[0]!.standings).toBe(fixed.blocks[1]!.standings);
  });

  test('mallows: no dispersion gives the order of the list', async () => {
    const { votes } = await hold(culture({ culture: 'mallows', dispersion: 0 }));
    expect(new Set(rankings(votes))).toEqual(new Set(['abc']));
    const wide = await hold(culture({ culture: 'mallows', dispersion: 1 }));
    expect(new Set(rankings(wide.votes)).size).toBe(6);
  });

  test('line: no agent ranks the middle last', async () => {
    const { votes } = await hold(culture({ culture: 'line' }));
    expect(new Set(rankings(votes))).toEqual(new Set(['abc', 'bac', 'bca', 'cba']));
  });

  test.each([
    ['approval', 'approved', (ballot: never) => (ballot as string[]).length === 2],
    ['plurality', 'option', (ballot: never) => options.includes(ballot)],
    ['score', 'scores', (ballot: never) => Math.max(...Object.values<number>(ballot)) === 10],
    ['quadratic', 'votes', (ballot: never) => ballot >= 1 && ballot <= 5],
  ])('the rule %s gets ballots with %s', async (policy, member, isRight) => {
    const { votes } = await hold(culture({}, policy));
    expect(votes).toHaveLength(60);
    for (const { ballot } of votes) {
      expect(Object.keys(ballot as Raw)).toEqual([member]);
      expect(isRight((ballot as Record<string, never>)[member]!)).toBe(true);
    }
  });

  test('a rule that chooses needs options', () => {
    const path = town({ strategy: { kind: 'culture' } });
    const error = errorOf(() => loadScenario(path));
    expect(error.problem).toMatchObject({ path: ['producers', 'options'], code: 'MISSING' });
  });
});

test('ballots have the forms of the rules', () => {
  const forms = ['borda', 'plurality', 'proportional', 'score', 'quadratic', 'liquid', 'bft'].map(
    (policy) => findBallotForm(createRule(policy)),
  );
  expect(forms).toEqual(['ranking', 'option', 'approved', 'scores', 'votes', null, null]);
});
