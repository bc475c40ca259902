/** `folkmoot recount`: recorded ballots of networks and election data under other rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeVote } from '../../../dist/engine/protocol/compose.js';
import type { Explanation } from '../../../dist/sim/attribution/explanation.js';
import type { DescribedRecount } from '../../../dist/sim/rules/recount.js';
import { answerOf, newPopulation } from '../../engine/helpers.js';
import { expectOneLine, runCommand, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';
import { csvRows, linesOf, suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();
const run = join(folder, 'run');
const sixty = join(root, 'examples/rules/sixty.js');
const ranked = join(root, 'examples/rules/ranked.js');

async function recount(source: string, ...args: string[]): Promise<DescribedRecount> {
  const { code, stdout, stderr } = await runCommand(['recount', source, '--json', ...args]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as DescribedRecount;
}

beforeAll(async () => {
  await simJson('--agents', '30', '--blocks', '6', '--out', run, '--set', 'consensus.policy=bft');
});

test('recount: the recorded rule gives the recorded outcomes', async () => {
  const found = await recount(run, '--rule', 'bft');
  expect(found).toMatchObject({ policy: 'bft', complete: true, rules: [{ differs: 0, waits: 0 }] });
  const rows = csvRows(join(run, 'blocks.csv')).filter(({ status }) =>
    ['finalized', 'rejected', 'expired'].includes(status!),
  );
  expect(
    found.blocks.map(({ number, block_hash, height, recorded }) => {
      return [`${number}`, block_hash, `${height}`, recorded!.status];
    }),
  ).toEqual(
    rows.map(({ number, block_hash, height, status }) => [number, block_hash, height, status]),
  );
});

test('recount: pivotal voters include the swing voters of why', async () => {
  const { blocks } = await recount(run, '--rule', 'bft');
  for (const { block_hash, rules } of blocks) {
    const { stdout } = await runCommand(['why', run, block_hash, '--mechanical', '--json']);
    const { swings } = JSON.parse(stdout) as Explanation;
    // A recount by `why` leaves a block open if electors could still have voted.
    const voters = swings.filter(({ vote, outcome }) => vote !== null && outcome !== 'open');
    const pivotal = rules[0]!.pivotal!.map(({ agent_id }) => agent_id);
    for (const { agent_id } of voters) expect(pivotal).toContain(agent_id);
  }
});

test('recount: parameters belong to the rule before them', async () => {
  const rules = ['--rule', 'threshold', '--parameter', 'for_bps=9000', '--rule', 'threshold'];
  const { rules: found } = await recount(run, ...rules, '--parameter', 'for_bps=1,turnout_bps=1');
  expect(found.map(({ parameters }) => parameters)).toEqual([
    { for_bps: 9_000, turnout_bps: 0, of_cast: 0 },
    { for_bps: 1, turnout_bps: 1, of_cast: 0 },
  ]);
  expect(found[0]!.differs).toBeGreaterThan(0);
  expect(found[0]!.rule).toBe('threshold for_bps=9000');
});

/** A network with three options, whose voters rank them as in a Condorcet example. */
async function rankedNetwork(path: string) {
  const people = await newPopulation({ path, genesis: { policy: 'schulze' }, verifier: 'inline' });
  const agents = await people.joinMany(9, ['validator', 'producer']);
  const options = ['a', 'b', 'c'].map((name) => ({ name }));
  const hash = await people.open(agents[0]!, { options });
  const rankings = ['abc', 'abc', 'abc', 'abc', 'bca', 'bca', 'cba', 'cba', 'cba'];
  for (const [at, ranking] of rankings.entries()) {
    const ballot = { ranking: [...ranking] };
    const fields = { block_hash: hash, decision: 'approve' as const, ballot };
    answerOf(await people.submit(composeVote(agents[at]!, people.stamp(), fields)));
  }
  return { hash, agents };
}

test('recount: recorded rankings choose differently under other rules', async () => {
  const path = temporaryFolder();
  const { hash } = await rankedNetwork(path);
  const names = ['schulze', 'plurality', 'instant_runoff', 'approval', 'bft', 'liquid', ranked];
  const found = await recount(path, ...names.flatMap((name) => ['--rule', name]));
  const why = await runCommand(['why', path, hash, '--mechanical']);
  expect(linesOf(why.stdout)[0]).toMatch(/schulze, which chose b; 9 of 9 electors voted; /);
  const [block] = found.blocks;
  expect(block).toMatchObject({
    block_hash: hash,
    options: ['a', 'b', 'c'],
    recorded: { status: 'finalized', choice: 'b' },
  });
  expect(block!.rules.map(({ outcome }) => outcome.choice)).toEqual([
    ...['b', 'a', 'c', 'a', undefined, undefined, 'c'],
  ]);
  expect(block!.rules.map((r) => r.differs)).toEqual([false, true, true, true, true, true, true]);
  expect(found.rules.map(({ ballots }) => ballots)).toMatchObject([
    { kept: 9 },
    { converted: 9 },
    { kept: 9 },
    { converted: 9 },
    { kept: 0, converted: 0, dropped: 0 },
    { dropped: 9 },
    { kept: 9 },
  ]);
  expect(found.rules.at(-1)!.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('recount: names the pivotal voters, and each outcome without them', async () => {
  const path = temporaryFolder();
  const { agents } = await rankedNetwork(path);
  const { blocks, voters } = await recount(path, '--rule', 'plurality');
  const pivotal = blocks[0]!.rules[0]!.pivotal!;
  // Four votes for a, three for c and two for b. If a and c are equal, a wins.
  expect([pivotal, voters]).toEqual([[], []]);
  const few = await recount(path, '--rule', 'instant_runoff');
  const [first] = few.blocks[0]!.rules[0]!.pivotal!;
  // Five votes for c and four for a in the last round.
  expect(few.blocks[0]!.rules[0]!.pivotal!.map(({ agent_id }) => agent_id).sort()).toEqual(
    agents
      .slice(4)
      .map(({ id }) => id)
      .sort(),
  );
  expect(first).toMatchObject({ removed: { status: 'finalized', choice: 'a' } });
  const limited = await recount(path, '--rule', 'instant_runoff', '--most', '161');
  expect(limited.blocks[0]!.rules[0]).toMatchObject({ pivotal: null, exceeds: 162 });
  expect(limited.rules[0]).toMatchObject({ exceeded: 1, pivotal: 0 });
});

test('recount: never runs the module of the network', async () => {
  const path = temporaryFolder();
  const source = 'export default { decide: () => { for (;;); } };';
  const genesis = { policy: 'module', rule: { source } };
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const agents = await people.joinMany(3, ['validator', 'producer']);
  const hash = await people.open(agents[0]!);
  await people.votes(agents.slice(0, 1), hash, 'approve');
  const started = performance.now();
  const { policy, blocks } = await recount(path, '--rule', 'majority');
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(policy).toBe('module');
  expect(blocks[0]).toMatchObject({ recorded: { status: 'expired' } });
  await people.open(agents[1]!);
  const { stdout } = await runCommand(['recount', path, '--rule', 'majority']);
  expect(linesOf(stdout)[0]).toContain('; left out: 1 block in voting');
});

test('recount: a module that fails gives its fault', async () => {
  const file = join(folder, 'throws.js');
  writeFileSync(file, 'export default { tally() { throw new Error("no"); } };');
  const { rules, blocks } = await recount(run, '--rule', file);
  expect(rules[0]!.faults).toBe(blocks.length);
  expect(blocks[0]!.rules[0]).toMatchObject({ fault: 'RULE_THREW', pivotal: null });
});

test('recount: the text lists rules and differing blocks; --out writes charts', async () => {
  const out = join(folder, 'recount.html');
  const args = ['recount', run, '--rule', 'unanimity', '--rule', sixty, '--out', out];
  const { code, stdout, stderr } = await runCommand(args);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^rule .* with a pivotal voter /m);
  expect(stdout).toMatch(/^block \d+ \(height \d+\): finalized$/m);
  expect(stdout).toMatch(/^recorded +\d+ +\d+ +\d+$/m);
  expect(stdout).toMatch(/^unanimity +\d+ +\d+ +\d+ +\d+/m);
  expect(stdout).toMatch(/^ {2}unanimity: (?:rejected|expired)/m);
  const page = readFileSync(out, 'utf8');
  expect(page).toContain('Outcomes by rule');
  expect(page.match(/<svg/g)!.length).toBeGreaterThan(3);
  const again = await runCommand(args);
  expect([again.code, again.stdout]).toEqual([2, '']);
});

const data = `# FILE NAME: t.soi
# TITLE: Capital of Tennessee
# DATA TYPE: soi
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 100
# NUMBER UNIQUE ORDERS: 4
# ALTERNATIVE NAME 1: Memphis
# ALTERNATIVE NAME 2: Nashville
# ALTERNATIVE NAME 3: Chattanooga
# ALTERNATIVE NAME 4: Knoxville
42: 1,2,3,4
26: 2,3,4,1
15: 3,4,2,1
17: 4,3,2,1
`;

test('recount: counts election data under several rules', async () => {
  const file = join(folder, 't.soi');
  writeFileSync(file, data);
  const names = ['plurality', 'instant_runoff', 'schulze', 'borda'];
  const found = await recount(file, ...names.flatMap((name) => ['--rule', name]));
  const [block] = found.blocks;
  expect(found.policy).toBe(null);
  expect(block).toMatchObject({ electors: 100, votes: 100, recorded: null });
  expect(block!.rules.map(({ outcome }) => outcome.choice)).toEqual([
    ...['Memphis', 'Knoxville', 'Nashville', 'Nashville'],
  ]);
  const text = await runCommand(['recount', file, '--rule', 'borda', '--out', `${file}.html`]);
  expect(text.stdout).toMatch(/^borda: finalized Nashville/m);
  // Three voters decide between two options, and each of the two voters for a is pivotal.
  writeFileSync(
    file,
    data
      .replace('100', '3')
      .replace('ORDERS: 4', 'ORDERS: 2')
      .replace(/^42[\s\S]*$/m, '2: 1\n1: 2\n'),
  );
  expect((await recount(file, '--rule', 'plurality')).blocks[0]!.rules[0]!.pivotal).toEqual([]);
  const turnout = ['--parameter', 'turnout_bps=10000'];
  const all = await recount(file, '--rule', 'plurality', ...turnout);
  expect(all.blocks[0]!.rules[0]!.pivotal).toMatchObject([
    { removed: { status: 'expired' }, reversed: null },
    { removed: { status: 'expired' }, reversed: null },
  ]);
});

const tiedOrders = `# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: A
# ALTERNATIVE NAME 2: B
# ALTERNATIVE NAME 3: C
47: 1,3,2
43: 3,2,1
4: {1,3},2
6: 2,{1,3}
`;
const pabulib = (type: string, projects: string[], rows: string[]) =>
  [
    ...['META', 'key;value', `vote_type;${type}`, 'PROJECTS', 'project_id;cost'],
    ...[...projects.map((one) => `${one};1`), 'VOTES', ...rows, ''],
  ].join('\n');
const pairs = pabulib(
  'approval',
  ['A', 'B', 'C'],
  [...['voter_id;vote', '1;A,B', '2;A,B', '3;A,B', '4;A,B', '5;C']],
);

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test('recount: names the other winner of a tied elimination, in any order', async () => {
  const orders = (names: readonly string[]) => {
    const at = (name: string) => names.indexOf(name) + 1;
    const line = (count: number, ...order: string[]) => `${count}: ${order.map(at).join()}`;
    return [
      `# NUMBER ALTERNATIVES: ${names.length}`,
      ...names.map((name, number) => `# ALTERNATIVE NAME ${number + 1}: ${name}`),
      line(4, 'Ann', 'Bob', 'Cal'),
      line(3, 'Bob', 'Cal', 'Ann'),
      line(3, 'Cal', 'Ann', 'Bob'),
      '',
    ].join('\n');
  };
  for (const [names, choice] of [
    [['Ann', 'Bob', 'Cal'], 'Ann'],
    [['Ann', 'Cal', 'Bob'], 'Cal'],
  ] as const) {
    const file = write(`tied-${choice}.soc`, orders(names));
    const { blocks, rules } = await recount(file, '--rule', 'instant_runoff', '--rule', 'borda');
    const [runoff, borda] = blocks[0]!.rules;
    expect(runoff).toMatchObject({ outcome: { choice } });
    expect(runoff!.tied).toEqual({
      ...{ step: 'elimination 1', exact: true },
      winners: names.filter((name) => name !== 'Bob'),
    });
    expect(borda).not.toHaveProperty('tied');
    expect(rules.map(({ ties }) => ties)).toEqual([1, 0]);
    const { stdout } = await runCommand(['recount', file, '--rule', 'instant_runoff']);
    expect(stdout).toMatch(/tie at elimination 1/);
  }
});

test.each([
  ['plurality', 4],
  ['instant_runoff', 4],
])('recount: %s needs to know how to break ties, and names the ballots', async (rule, touched) => {
  const file = write(`pairs-${rule}.pb`, pairs);
  const refused = await runCommand(['recount', file, '--rule', rule]);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expectOneLine(refused);
  expect(refused.stderr).toContain(':11: ');
  const listed = await recount(file, '--rule', rule, '--ties', 'list');
  expect(listed.blocks[0]!.rules[0]).toMatchObject({
    outcome: { choice: 'A' },
    ballots: { listed: touched, converted: 1, tied: 0 },
  });
  const dropped = await recount(file, '--rule', rule, '--ties', 'drop');
  expect(dropped.blocks[0]!.rules[0]).toMatchObject({
    outcome: { choice: 'C' },
    ballots: { listed: 0, converted: 1, tied: touched },
  });
  const { stdout } = await runCommand(['recount', file, '--rule', rule, '--ties', 'drop']);
  expect(linesOf(stdout).find((line) => line.startsWith(`${rule}: finalized C`))).toContain(
    `${touched} ballots`,
  );
});

test('recount: recorded ballots with ties are refused, listed or dropped by name', async () => {
  const path = temporaryFolder();
  const people = await newPopulation({ path, genesis: { policy: 'schulze' }, verifier: 'inline' });
  const agents = await people.joinMany(3, ['validator', 'producer']);
  const hash = await people.open(agents[0]!, {
    options: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
  });
  for (const [at, ranking] of [[['c', 'b']], ['a'], [['c', 'b']]].entries()) {
    const fields = { block_hash: hash, decision: 'approve' as const, ballot: { ranking } };
    answerOf(await people.submit(composeVote(agents[at]!, people.stamp(), fields)));
  }
  const same = await recount(path, '--rule', 'schulze', '--rule', 'approval');
  expect(same.blocks[0]!.rules).toMatchObject([
    { differs: false, ballots: { kept: 3 } },
    { outcome: { choice: 'b' }, ballots: { converted: 3 } },
  ]);
  const refused = await runCommand(['recount', path, '--rule', 'schulze', '--rule', 'plurality']);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expectOneLine(refused);
  const listed = await recount(path, '--rule', 'instant_runoff', '--ties', 'list');
  expect(listed.rules[0]).toMatchObject({ ballots: { listed: 2, converted: 0, kept: 1 } });
  const unfit = await runCommand(['recount', path, '--rule', 'liquid']);
  expect(unfit.stdout).toMatch(/^liquid: 3 ballots left out/m);
});

test('recount: scores of one count have one scale, which the result names', async () => {
  const rows = ['1;A,B;9,8', '2;A,B;9,8', '3;A,B;9,8', '4;A,B;9,8', '5;B,A;11,10', '6;B,A;11,10'];
  const text = pabulib('cumulative', ['A', 'B'], ['voter_id;vote;points', ...rows]);
  const file = write('points.pb', text);
  const { blocks } = await recount(file, '--rule', 'score');
  expect(blocks[0]!.rules[0]).toMatchObject({
    outcome: { choice: 'A' },
    scale: { from: 11, to: 10 },
    standings: { A: 4 * 8 + 2 * 9, B: 4 * 7 + 2 * 10 },
  });
  const exact = await recount(file, '--rule', 'score', '--parameter', 'highest=11');
  expect(exact.blocks[0]!.rules[0]!.scale).toBe(undefined);
  expect(exact.blocks[0]!.rules[0]!.standings).toEqual({ A: 4 * 9 + 20, B: 4 * 8 + 22 });
  const { stdout } = await runCommand(['recount', file, '--rule', 'score']);
  expect(stdout).toMatch(/^score: finalized A .*10 \/ 11/m);
});

test('recount: the table has no formulas of strangers, except with --raw-cells', async () => {
  const name = '=HYPERLINK("http://x.test")';
  const file = write(
    'formula.soi',
    `# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: ${name}
# ALTERNATIVE NAME 2: B\n1: 1\n`,
  );
  const choiceIn = async (out: string, ...args: string[]) => {
    const { code } = await runCommand(['recount', file, '--rule', 'borda', '--out', out, ...args]);
    expect(code).toBe(0);
    return csvRows(out)[0]!.choice;
  };
  expect(await choiceIn(join(folder, 'safe.csv'))).toBe(`'${name}`);
  expect(await choiceIn(join(folder, 'raw.csv'), '--raw-cells')).toBe(name);
});

test('recount: several files give one table, with a row for a file that fails', async () => {
  const files = [write('one.toc', tiedOrders), write('two.pb', pairs)];
  const out = join(folder, 'choices.csv');
  const rules = ['--rule', 'schulze', '--rule', 'borda'];
  const { code, stdout, stderr } = await runCommand(['recount', ...files, ...rules, '--out', out]);
  expect(code, stderr).toBe(0);
  expect(linesOf(stdout)).toHaveLength(3);
  expect(csvRows(out)).toMatchObject([
    { source: files[0], voters: '100', rule: 'schulze', choice: 'A', kept: '100' },
    { source: files[0], rule: 'borda', choice: 'C' },
    { source: files[1], voters: '5', rule: 'schulze', choice: 'A', converted: '5' },
    { source: files[1], rule: 'borda', choice: 'A' },
  ]);
  const broken = write('broken.toc', `${tiedOrders}3: 9\n7: x\n`);
  const failed = await runCommand(['recount', broken, ...files, ...rules, '--json']);
  expect(failed.code).toBe(2);
  const found = JSON.parse(failed.stdout) as { complete: boolean; files: object[] };
  expect(found).toMatchObject({
    complete: true,
    files: [
      { source: broken, problem: expect.stringContaining('line 9') },
      { source: files[0] },
      { source: files[1] },
    ],
  });
  const skipping = await recount(broken, ...rules, '--skip-invalid');
  expect(skipping).toMatchObject({ skipped: { lines: 2, first: { line: 9 } } });
  const text = await runCommand(['recount', broken, ...rules, '--skip-invalid']);
  expect(text.stdout).toMatch(/^left out: 2 invalid lines; line 9: /m);
});
