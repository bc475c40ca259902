/** Studies on the command line: plan, register, run and report. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';

const folkmoot = (...args: string[]) => runCommand(args);

const scenario = (more = '', study = '') => `title: two effects
agents:
  - { group: town, count: 6, producers: 2 }
length: { blocks: 1 }
signatures: none
${more}
sweep:
  factors:
    - { path: agents.0.strategy.kind, name: way, values: [honest, silent] }
    - { path: links.loss, name: loss, values: [0, 0.1] }
  replicates: 8
  responses: [finalized_share, expired_share]
  study:
    effects:
      - { factor: way, between: [honest, silent], rates: [0.591, 0.754] }
      - { factor: loss, between: [0, 0.1], response: expired_share, rates: [0.466, 0.333] }
${study}`;

function written(text = scenario()) {
  const folder = temporaryFolder();
  const file = join(folder, 'study.yaml');
  writeFileSync(file, text);
  return { folder, file, in: (name: string) => join(folder, name) };
}

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await folkmoot(...args, '--json');
  expect(stderr, args.join(' ')).not.toMatch(/invalid/);
  return { code, value: JSON.parse(stdout) };
};

test('study plan: prints the runs for each effect before anything is spent', async () => {
  const { file } = written();
  const { value } = await json('study', 'plan', file);
  expect(value).toMatchObject({ cells: 4, runs: 32, cost: { calls: 0 } });
  expect(value.effects).toMatchObject([
    { runs: 16, needed: 129, needed_holm: 157 },
    { runs: 16, needed: 212, needed_holm: 257 },
  ]);
});

test('study plan: prices the calls of every cell', async () => {
  const strategy = '{ kind: http, url: "http://127.0.0.1:9", dialect: openai, model: m }';
  const text = scenario(
    'budget: { prices: { m: { input: 2, output: 10 } } }',
    '    tokens: { input: 500, output: 50 }\n',
  )
    .replace('producers: 2 }', `producers: 2, strategy: ${strategy} }`)
    .replace(
      'path: agents.0.strategy.kind, name: way, values: [honest, silent]',
      'path: length.blocks, name: way, values: [1, 3]',
    )
    .replace('between: [honest, silent]', 'between: [1, 3]');
  const { value } = await json('study', 'plan', written(text).file);
  const calls = 6 * (1 + 3) * 2 * 8;
  expect(value.cost).toMatchObject({ calls, tokens: calls * 550, unpriced: [] });
  expect(value.cost.money).toBeCloseTo(calls * (500 * 2 + 50 * 10) * 1e-6, 10);
});

test('study plan: counts a call for each round of a deliberation', async () => {
  const models = '{ kind: http, url: "http://127.0.0.1:9", dialect: openai, model: m }';
  const text = scenario('deliberation: { rounds: 3 }')
    .replace('producers: 2 }', `producers: 2, strategy: ${models} }`)
    .replace(
      'path: agents.0.strategy.kind, name: way, values: [honest, silent]',
      'path: deliberation.rounds, name: way, values: [1, 3]',
    )
    .replace('between: [honest, silent]', 'between: [1, 3]');
  const { value } = await json('study', 'plan', written(text).file);
  expect(value.cost.calls).toBe(6 * (1 + 3) * 2 * 8);
});

test.each([
  ['factor: way, between', 'factor: kind, between', /unknown factor: kind/],
  ['[honest, silent], rates', '[honest, honest], rates', /expected two of honest, silent/],
  ['response: expired_share', 'response: agreed', /unknown measure: agreed/],
])('study plan: refuses %s as %s', async (find, becomes, problem) => {
  const { file } = written(scenario().replace(find, becomes));
  const { code, stderr } = await folkmoot('study', 'plan', file);
  expect(code).toBe(2);
  expect(stderr).toMatch(problem);
});

test('study register: a registered sweep refuses every change, and reports the hash', async () => {
  const { file, in: inside } = written();
  const registration = inside('r.json');
  const { value } = await json('study', 'register', file, '--out', registration);
  expect(Object.keys(value.parts)).toEqual(['scenario', 'prompts', 'models', 'seeds', 'analysis']);
  expect((await folkmoot('study', 'register', file, '--out', registration)).code).toBe(2);
  const out = inside('out');
  const run = (...more: string[]) =>
    folkmoot('sweep', file, '--registered', registration, '--out', out, ...more);
  for (const [change, part] of [
    [['--set', 'agents.0.count=7'], 'scenario'],
    [
      [
        '--set',
        'sweep.factors.1.values=[0, 0.2]',
        '--set',
        'sweep.study.effects.1.between=[0, 0.2]',
      ],
      'scenario, analysis',
    ],
    [['--replicates', '9'], 'seeds'],
    [['--seed', '2'], 'seeds'],
    [['--set', 'sweep.study.error=0.1'], 'analysis'],
    [['--beacon', 'x'], '--beacon'],
  ] as const) {
    const { code, stderr } = await run(...change);
    expect([code, stderr]).toEqual([2, expect.stringContaining(part)]);
  }
  const text = readFileSync(registration, 'utf8');
  for (const edited of [
    text.replace(/[0-9a-f]/g, '0'),
    text.replace('"files": {}', `"files": { "other.md": "${'0'.repeat(64)}" }`),
    text.replace('"models": []', '"models": ["http other"]'),
  ]) {
    expect(edited).not.toBe(text);
    writeFileSync(inside('bad.json'), edited);
    expect((await folkmoot('sweep', file, '--registered', inside('bad.json'))).code).toBe(2);
  }
});

test('study report: shows the effect that exists, in a registered sweep', async () => {
  const { file, in: inside } = written();
  const registration = inside('r.json');
  const { value } = await json('study', 'register', file, '--out', registration, '--beacon');
  const out = inside('out');
  const args = ['sweep', file, '--registered', registration, '--out', out, '--jobs', '1'];
  expect((await folkmoot(...args)).code).toBe(2);
  expect((await folkmoot(...args, '--beacon', 'pulse 7')).code).toBe(0);
  expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain(value.sha256);
  const head = JSON.parse(readFileSync(join(out, 'sweep.json'), 'utf8'));
  expect(head).toMatchObject({ registered: value.sha256 });
  expect(head.scenario.seed).toMatch(/^[0-9a-f]{32}$/);
  const resumed = await folkmoot(
    'sweep',
    file,
    '--resume',
    '--out',
    out,
    '--seed',
    head.scenario.seed,
  );
  expect(resumed.code).toBe(2);
  const found = (await json('study', 'report', out)).value;
  expect(found).toMatchObject({ completed: 32, planned: 32, registered: value.sha256 });
  const [way, loss] = found.effects;
  expect(way).toMatchObject({ pairs: 16, higher: 0, lower: 16, difference: -1, shown: true });
  expect(way.p_holm).toBeCloseTo(2 * 2 * 0.5 ** 16, 12);
  expect(way.arms[0]).toMatchObject({ n: 16, mean: 1, missing: 0 });
  expect(loss.shown).toBe(false);
  // The report covers an unfinished study, and does not count a copied run.
  const [first] = readdirSync(join(out, 'runs'));
  const copy = join(out, 'runs', first!.replace(/-\d+/, '-99'));
  renameSync(join(out, 'runs', first!), copy);
  expect((await folkmoot('study', 'report', out)).code).toBe(13);
  rmSync(copy);
  expect((await json('study', 'report', out)).value.completed).toBe(31);
  for (const text of ['null', '{}', '{ "scenario": { "sweep": null } }']) {
    writeFileSync(join(out, 'sweep.json'), text);
    const { code, stderr } = await folkmoot('study', 'report', out);
    expect([code, stderr.trim().split('\n').length]).toEqual([13, 1]);
  }
});
