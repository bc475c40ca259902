/** Command lines with a mistake: exit code, and one error that names the value. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadScenario, ScenarioError } from 'folkmoot/sim';
import { agentOf, live } from '../client/helpers.js';
import { type Ended, expectOneLine, runCommand } from '../support/command.js';
import { root as checkout, main } from '../support/paths.js';
import { linesOf, suiteFolder } from '../support/runs.js';

const root = suiteFolder();
const at = (name: string) => join(root, name);

function fileWith(name: string, text: string): string {
  writeFileSync(at(name), text, { mode: 0o600 });
  return at(name);
}

const [run, folder, missing, sixty] = [
  ...[at('run'), at('folder'), at('missing'), join(checkout, 'examples/rules/sixty.js')],
] as const;
const file = fileWith('file.txt', 'hello');
const broken = fileWith('broken.json', '{"private_key": "no');
const empty = fileWith('empty.json', '{}\n');
const certificate = at('certificate.json');
const [key, page] = [at('key.json'), at('page.html')];
for (const one of [folder, page]) mkdirSync(one);

beforeAll(async () => {
  for (const line of [
    ['sim', '--agents', '12', '--blocks', '2', '--out', run],
    ['certify', run, '1', '--out', certificate],
    ['keygen', '--out', key],
  ]) {
    const ended = await runCommand(line);
    expect(ended.code, ended.stderr).toBe(0);
  }
});

type Row = [args: readonly string[], ...parts: string[]];

/** Expects one error, which contains the parts, after lines of progress. */
function expectError(ended: Ended, code: number, parts: readonly string[]): void {
  const { stdout, stderr } = ended;
  expect([ended.code, stdout], stderr).toEqual([code, expect.stringMatching(/^$|^bad /)]);
  expect(stderr).not.toMatch(/^ +at /m);
  // Node's own text repeats the call and the path.
  expect(stderr).not.toMatch(/, (?:open|read|mkdir|stat|scandir) '/);
  if (stdout === '') expect(linesOf(stderr).at(-1)).toMatch(/^folkmoot: .{10,}|^\(/);
  expect(stderr.match(/^(?:folkmoot|error): /gm)?.length ?? 1, stderr).toBe(1);
  for (const part of parts) expect(stderr).toContain(part);
}

const words = (line: string) => line.split(' ');
const lines = (text: string): Row[] =>
  text
    .trim()
    .split('\n')
    .map((line) => [words(line.trim())]);

/** Options and arguments that no command accepts. */
const invalid: Row[] = [
  ...lines(`nope
    sim --nope
    sim healthy-town extra
    sim nowhere
    sim --set consensus.policy
    sim --set consensus.polcy=bft
    sim --set consensus.policy=loud
    scenario check
    scenario show nowhere
    sim --blocks -1
    sim --agents 1e3
    sim --agents 1000001
    sim --blocks ${'9'.repeat(30)}
    sim --verifier trust
    replay
    serve --verify-threads 0
    load --verify-threads 257
    sim --verifier inline --verify-threads 2
    replay . --verifier off
    replay . --to -1
    log . --from x
    verify --verifier off
    load --workload all
    load --duration 10
    load --rate 0
    load --rate 10 --concurrency 10
    load --slo p99=200ms
    load --saturate --concurrency 10
    load --saturate --slo fast
    load --fail-on p99>fast
    load --url localhost
    keygen --seed-hex ${'zz'.repeat(32)}
    serve --port 70000
    serve --port x
    serve --limits none
    serve --policy mine
    serve --weights mine
    serve --voting-period-ms 0
    serve --min-validators 0
    serve --transport quic
    serve --log-level loud
    serve --cors *
    serve --cors https://a.example,https://b.example/
    serve --cors a.example
    serve --cors null
    serve --cors HTTPS://A.example
    serve --cors https://a.example:443
    serve --hosts http://network.example
    serve --hosts network.example:8080
    serve --hosts network.example,*
    rule check borda_count
    rule check bft --parameter size=3
    rule check ${sixty} --parameter for_bps=0
    rule check score --parameter highest=1.5
    rule show borda_count
    rule check ${at('none.js')}
    rule check ${folder}
    recount ${run}
    recount ${run} ${at('t.soi')} --rule bft
    recount a.soi b.soi --rule bft --out x.html
    recount ${run} --rule bft --skip-invalid
    recount ${run} --rule nope
    recount ${run} --rule ${at('none.js')}
    recount ${run} --rule bft --parameter size=3
    recount ${run} --parameter size=3 --rule committee
    recount ${missing} --rule bft
    recount ${at('none.soc')} --rule bft
    recount ${run} --rule bft --out ${at('page.txt')}
    recount ${run} --rule bft --options 4
    check-certificate ${folder}
    check-certificate ${certificate} --trusted-digest five
    certify ${missing} 1
    certify ${run} ${'f'.repeat(64)}
    certify ${run} block
    certify ${run} hm
    certify ${run} 999
    certify ${run} ffffffff00
    certify ${run} 1 --through 999999
    certify ${run} 1 --out ${certificate}
    check-certificate ${empty} --rule ${at('none.js')}
    check-certificate ${empty} --rule ${folder}
    check-certificate ${empty} --rule ${join(checkout, 'package.json')}
    check-certificate ${empty} --rule bft
    sim --log none --verify-trace ${empty}
    sim --unsigned --verify-trace ${missing}
    sim --agents 4 --out ${run}
    keygen --out ${certificate}
    sim --url http://127.0.0.1:1 --speed 0
    sim --url http://127.0.0.1:1 --speed -2
    sim --url http://127.0.0.1:1 --speed fast
    sim --url http://127.0.0.1:1 --verifier inline
    sim --url nonsense
    serve --scenario healthy-town --speed 0
    serve --scenario healthy-town --speed -1
    serve --scenario healthy-town --speed fast
    serve --scenario healthy-town --speed 1001
    serve --scenario /nowhere.yaml
    serve --speed 2
    serve --seed 7
    explore nowhere
    explore ${run} --port 65536
    gallery no-such-scenario
    fork ${folder} --set links.loss=0.1
    fork ${missing} --set links.loss=0.1
    compare ${run} ${folder}
    sweep byzantine --keep --log none --out ${at('logs')}
    agent nope
    agent register
    agent reputation
    agent reputation --key ${missing}
    agent status asleep --key ${key}
    agent propose --key ${key} --set a
    agent propose --key ${key} --set a={
    agent meme ${missing} --key ${key}
    agent ally respond ally_1 maybe --key ${key}
    agent watch --count 0 --key ${key}
    network state --url localhost:8080
    network state --url http://localhost:8080,localhost:8081
    network state --url ,
    network blocks --status lost`),
  [['serve', '--network-id', 'no spaces']],
  [['sim', '--seed', '']],
  ...[
    ...['serve', 'agent watch', 'cluster status', 'network state', 'sim', 'scenario check'],
    ...['sweep', 'merge', 'worker', 'swarm', 'replay', 'load', 'load compare', 'log', 'archive'],
    'keygen',
  ].map((command): Row => [[...words(command), '--nonsense']]),
  ...[missing, folder, broken].flatMap((path) => [
    ...lines(`sim ${path}
      sweep ${path}
      scenario check ${path}
      scenario show ${path}
      serve --scenario ${path}
      serve --response-key ${path} --data ${at('data')}
      agent status active --key ${path} --url http://127.0.0.1:9
      load compare ${path} ${path}`),
  ]),
  ...[missing, folder].flatMap((path) =>
    lines(`replay ${path}
      log ${path}
      archive ${path} --before 1
      merge ${path} --out ${at('out')}`),
  ),
];

const forged = '"x\\nfolkmoot: fine": 1';

/** Mistakes that the error names. */
const named: Row[] = [
  [['check-certificate', missing], missing, '(ENOENT)'],
  [['check-certificate', folder], folder, '(EISDIR)'],
  [['compare', folder, folder], folder, '(ENOENT)'],
  [['keygen', '--out', join(missing, 'k.json')], join(missing, 'k.json'), '(ENOENT)'],
  [['agent', 'register', '--name', 'Ada', '--key', missing], missing, '(ENOENT)'],
  [['agent', 'register', '--name', 'Ada', '--key', folder], folder, '(EISDIR)'],
  [['serve', '--port', '0', '--data', file], file, '(EEXIST)'],
  [['serve', '--port', '0', '--rule', missing], missing, '(ENOENT)'],
  [['serve', '--port', '0', '--rule', folder], folder, '(EISDIR)'],
  [['serve', '--port', '0', '--limits-file', missing], missing, '(ENOENT)'],
  [['load', 'compare', folder, folder], join(folder, 'result.json'), '(ENOENT)'],
  ...[
    ['log'],
    ['events'],
    ['why', '1'],
    ['explore'],
    ['archive', '--before', '2'],
    ['check'],
  ].flatMap(([command, ...more]): Row[] => [
    [[command!, file, ...more], `not a folder: ${file}`],
    [[command!, folder, ...more], `no network found in ${folder}`],
  ]),
  [['check', file, '--json'], `not a folder: ${file}`],
  [['check', folder, '--json'], `no network found in ${folder}`],
  ...[['check'], ['check', '--json'], ['replay'], ['certify', '1']].map(
    ([command, ...more]): Row => [[command!, missing, ...more], `path not found: ${missing}`],
  ),
  ...['log', 'events'].map((command): Row => {
    return [[command, root, '--from', '9', '--to', '3'], '--from 9', '--to 3'];
  }),
  ...['nothing', 'sim '].map((topic): Row => [['help', topic], topic, 'exit-codes', 'certify']),
  // A line break in an argument or in a file starts no line.
  [['sim', 'x\nfolkmoot: fine'], 'x\\nfolkmoot: fine'],
  [
    ['sim', fileWith('forged.yaml', `{${forged}, title: T, agents: [{group: a}]}`)],
    'x\\nfolkmoot: fine ',
  ],
  [
    ['sim', fileWith('secret.yaml', '{title: T, agents: [{group: a}], "http://a:b@c": 1}')],
    'http://***@c is an unknown key',
  ],
  [['sim', '--agents', '0'], 'invalid --agents: 0 (expected ', '1 to 1000000)', '--help'],
  [
    ['agent', 'vote', '1', 'maybe', '--key', 'k'],
    'invalid decision: maybe (expected approve, reject)',
  ],
  [['kegen'], "unknown command 'kegen'\n(Did you mean keygen?)"],
  [['load', '--fail-on', 'p99>>2'], '--fail-on: "p99>>2"'],
  [['load', '--fail-on', 'p98>2ms'], '--fail-on: "p98>2ms"'],
  [['load', '--saturate', '--slo', 'p99'], '--slo: "p99"'],
  [['load', 'compare', run, run, '--fail-on', 'p99>1'], '--fail-on: "p99>1"'],
  [['compare', run], 'missing argument: <b> (second run)'],
  [['load', 'compare', run], 'missing argument: <b> (results to compare'],
  [['why', run], 'missing argument: <block> (block hash'],
  [['cluster', 'forget'], 'missing argument: <node> (node name)'],
  [['agent', 'ally', 'respond', '--key', 'k'], 'missing argument: <alliance> (alliance id'],
  [['sim', '--check-determinism', '--out', at('twice')], '--out'],
  [['explore', run, '--export', 'run.txt'], 'invalid --export: run.txt '],
  [['explore', run, '--export', 'nowhere/run.html'], 'folder not found: nowhere;'],
  [['explore', run, '--export', page], page],
  ...[['--port', '0'], ['--open', 'yes'], ['--verify']].map((more): Row => {
    return [['explore', run, '--export', ...more], `cannot be used with option '${more[0]}`];
  }),
  ...['sim', 'load'].flatMap((command): Row[] => [
    [[command, '--port', '0'], '--port requires --watch'],
    [[command, '--watch=loudly'], 'invalid --watch: loudly '],
  ]),
  [['sim', '--speed', '2'], '--speed requires --url or --watch'],
  [['sim', '--speed', 'max', '--url', 'http://127.0.0.1:1'], 'with --url'],
  [['sim', '--watch', '--url', 'http://127.0.0.1:1'], 'cannot be used with'],
  [['sim', '--check-determinism', '--watch'], 'cannot be used with'],
  [['sim', '--set', 'faults=[{"kind":"crash",}]'], 'position 17'],
  [['sim', '--set', 'faults=[{kind: crash}]'], 'position 2'],
  [['sim', '--set', 'links={"loss":0.1'], 'position 11'],
  [['sim', '--set', 'title=[draft'], 'position 1'],
  [['sim', '--set', 'title="draft'], 'position 6'],
  [['sim', '--set', 'links={"loss":0.1,"loss":0.2}'], '/loss'],
  [['sim', '--set', 'agents=[{"group":"b","count":"x"}]'], 'agents.0.count'],
  [['sweep', 'byzantine', '--until-interval', '0'], 'above 0'],
  [['sweep', 'byzantine', '--until-interval', '5x'], 'such as 5%'],
  [['sweep', 'byzantine', '--most-replicates', '20'], 'requires --until-interval'],
  [['sweep', 'byzantine', '--until-interval', '1', '--until-response', 'luck'], 'luck'],
  ...[
    ['--policy', 'threshold', '--parameter', 'size=3'],
    ['--policy', 'threshold', '--parameter', 'for_bps=10000'],
    ['--policy', 'threshold', '--parameter', 'for_bps=0.5'],
    ['--policy', 'threshold', '--parameter', 'for_bps'],
    ['--policy', 'bft', '--parameter', 'for_bps=6000'],
    ['--rule', sixty, '--parameter', 'for_bps=0'],
  ].map((more): Row => [['serve', '--port', '0', '--data', at('none'), ...more], '--parameter']),
  [['conformance'], '--out DIR'],
  [['conformance', '--out', 'x', '--list'], '--out DIR'],
  [['conformance', '--check', 'results'], '--against DIR'],
  [['conformance', '--out', 'x', '--only', 'nothing'], 'nothing'],
  [['conformance', '--check', 'nowhere', '--against', '.'], 'nowhere'],
  [['conformance', '--check', 'package.json', '--against', '.'], 'suite.json; '],
  [['conformance', '--out', 'docs'], ': docs; '],
  [['mcp', '--key', missing], `cannot read --key ${missing}: `, '(ENOENT)'],
  [['mcp', '--key', key, '--key', key], 'duplicate key name: key; '],
  [['mcp', '--key', key, '--key', `bob=${key}`], 'duplicate --key: '],
  [['mcp', '--key', `${'a'.repeat(40)}=${key}`], 'expected NAME=FILE'],
  [['mcp', '--key', key, '--http', '0', '--hosts', 'http://a'], 'invalid --hosts http://a: '],
  [['events', run, '--format', 'parquet'], '--out FILE'],
  [['events', run, '--out', at('e.xlsx')], '.parquet'],
  [['load', 'reads'], 'folkmoot load --workload reads'],
  [['load', 'compair'], 'folkmoot load compare'],
  [['check', 'town.yaml'], 'folkmoot scenario check town.yaml'],
  [['agent', 'register', '--name', 'Ada'], 'folkmoot keygen --out'],
  [['events', run, '--format', 'xml'], 'ndjson, csv, parquet'],
  [['events', run, '--type', 'vote'], 'invalid --type: vote '],
  [['events', run, '--agent', 'alice'], 'invalid --agent: alice '],
  [['events', run, '--from', '0'], 'whole number of at least 1'],
  [['events', run, '--out', main], 'already exists'],
  [['events', run, '--out', '/nowhere/x.csv'], 'x.csv'],
  [['why', run, 'f'.repeat(64)], `block not found: ${'f'.repeat(64)}`],
  [['why', run, '999999'], 'block not found: height 999999'],
  [['why', run, '../etc'], 'invalid block: ../etc'],
  [['why', join(run, 'nowhere'), '1'], 'nowhere; check the path'],
  [['why', run, '1', '--kind', 'mood'], 'invalid --kind: mood '],
  [['why', run, '1', '--margin', '1'], 'expected a number above 0 and below 1'],
  [['why', run, '1', '--most-replicates', '10'], 'invalid --most-replicates: 10 '],
  ...[
    ['{"votes": 3}', 'unknown limit: votes '],
    ['{"vote": 0}', 'invalid vote '],
    ['{"vote": "3"}', 'invalid vote '],
    ['[3]', 'expected an object such as {"vote": 20}'],
    ['{"vote": ', 'JSON'],
    ['{"vote":1,"vote":2}', '/vote'],
  ].map(([text, part], number): Row => {
    const limits = fileWith(`limits-${number}.json`, text!);
    return [['serve', '--limits-file', limits], `--limits-file ${limits}: `, part!];
  }),
  ...[
    ['--out', 'never-written'],
    ['--store', 'memory'],
    ['--verifier', 'inline'],
    ['--verify-threads', '2'],
    ['--watch'],
    ['--check-determinism'],
    ['--verify-trace', '0123456789abcdef'],
  ].map((more): Row => {
    return [
      ['sim', '--unsigned', '--log', 'none', ...more],
      `${more[0]} cannot be used with --log none`,
    ];
  }),
];

test.each(invalid)('%j: exits with 2', async (args) => {
  expectError(await runCommand(args), 2, []);
});

test.each(named)('%j: names what is wrong', async (args, ...parts) => {
  expectError(await runCommand(args), 2, parts);
});

test('agent: without a command, it shows its help and exits with 2', async () => {
  const { code, stdout, stderr } = await runCommand(['agent']);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('agent register')]);
});

const gone = ['--url', 'http://127.0.0.1:9'];
test.each([
  ['network', 'state', ...gone],
  ['agent', 'watch', '--key', key, ...gone],
  ['agent', 'vote', '0'.repeat(64), 'approve', '--key', key, ...gone],
  ['sim', '--agents', '4', '--blocks', '1', ...gone],
  ['load', ...gone],
  ['load', '--saturate', ...gone],
])('%s %s: exits with 1 if the server is unreachable', async (...args) => {
  expectError(await runCommand(args), 1, []);
});

test('sweep: refuses the folder of a run or a load run, and leaves it unchanged', async () => {
  const load = join(root, 'load');
  mkdirSync(load);
  writeFileSync(join(load, 'result.json'), '{}');
  for (const out of [run, load]) {
    const before = readdirSync(out);
    for (const more of [[], ['--resume']]) {
      const args = ['sweep', 'byzantine', '--replicates', '1', '--out', out, ...more];
      expectError(await runCommand(args), 2, [out]);
      expect(readdirSync(out)).toEqual(before);
    }
  }
});

test('swarm: refuses the folder of a run or of a failure before its first run', async () => {
  const failure = join(root, 'failure');
  mkdirSync(failure);
  writeFileSync(join(failure, 'scenario.yaml'), 'title: kept\n');
  for (const out of [run, failure]) {
    const before = readdirSync(out);
    expectError(await runCommand(['swarm', '--seeds', '1', '--out', out]), 2, [out]);
    expect(readdirSync(out)).toEqual(before);
  }
});

test('sim, load, conformance: refuse the folder of another output', async () => {
  const sweep = join(root, 'sweep');
  mkdirSync(sweep);
  writeFileSync(join(sweep, 'sweep.json'), '{}');
  expectError(await runCommand(['load', '--out', run, '--duration', '1s']), 2, [run]);
  expectError(await runCommand(['load', '--out', sweep, '--duration', '1s']), 2, [sweep]);
  expectError(await runCommand(['sim', '--agents', '12', '--out', sweep]), 2, [sweep]);
  const suite = await runCommand(['conformance', '--out', sweep]);
  expect([suite.code, suite.stderr]).toEqual([2, expect.stringContaining(sweep)]);
  expect(readdirSync(sweep)).toEqual(['sweep.json']);
});

test('sweep: an unknown response of until is refused with all measures', async () => {
  const until = ['--until-interval', '0.1', '--until-response', 'luck'];
  const ended = await runCommand(['sweep', 'byzantine', ...until, '--out', join(root, 'until')]);
  expectError(ended, 2, ['sweep.until.response', 'luck', 'finalized_share', 'reported.NAME']);
});

const change = ['--intervention', '{ kind: silence, whom: [{ agent: 2 }], at_height: 1 }'];

test.each([
  ['sim', ['sim', '--agents', '12', '--blocks', '1', '--record']],
  ['sim', ['sim', '--agents', '12', '--blocks', '1', '--cassette', join(root, 'missing')]],
  ['sweep', ['sweep', 'byzantine', '--record', '--out', run]],
  ['sweep', ['sweep', 'byzantine', '--cassette', join(root, 'missing'), '--out', run]],
  ['fork', ['fork', run, '--record', ...change, '--out', run]],
])('%s: notes decider options for a scenario without deciders: %j', async (_, args) => {
  const { stderr } = await runCommand(args);
  expect(stderr.match(/^folkmoot: note: .*--record and --cassette .*/gm)).toHaveLength(1);
});

test('certify: refuses --through an entry before the end of the block', async () => {
  const ended = await runCommand(['certify', run, '1', '--through', '3']);
  expectError(ended, 2, ['entry 3']);
  const named = /entry (\d+) or a later one/.exec(ended.stderr)![1]!;
  const done = await runCommand(['certify', run, '1', '--through', named]);
  expect([done.code, done.stderr]).toEqual([0, '']);
});

test('agent watch: refuses --since after the last event', async () => {
  const { url } = await live();
  const key = join(root, 'ada.json');
  expect((await runCommand(['keygen', '--out', key])).code).toBe(0);
  const agent = (...args: string[]) => runCommand(['agent', ...args, '--url', url, '--key', key]);
  expect((await agent('register', '--name', 'Ada')).code).toBe(0);
  const { last_seq: last } = await (await agentOf(url, 2)).eventPage();
  const beyond = await agent('watch', '--since', String(last + 1), '--count', '1');
  expectError(beyond, 2, [`--since: ${last + 1}`, String(last)]);
  const within = await agent('watch', '--since', String(last - 1), '--count', '1');
  expect([within.code, within.stderr]).toEqual([0, '']);
  expect(JSON.parse(within.stdout).seq).toBe(last);
});

/** A program that wrote or signed such a file may have used the other value. */
test('files: a member that appears twice is refused and named', async () => {
  const log = await runCommand(['replay', fileWith('log.ndjson', '{"seq":0,"at":0,"seq":0}\n')]);
  expectOneLine(log);
  expect([log.code, log.stderr]).toEqual([13, expect.stringContaining('/seq')]);
  const result = fileWith('result.json', '{"runs":[{"votes":1,"votes":2}]}');
  expectError(await runCommand(['load', 'compare', result, result]), 2, ['/runs/0/votes']);
});

test.each([
  [folder, 'IS_FOLDER'],
  [missing, 'NOT_FOUND'],
])('scenario: %s has code %s', (path, code) => {
  const load = () => loadScenario(path);
  expect(load).toThrow(ScenarioError);
  expect(load).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['a tab', 'a:\n\tb: 1\n', 2, 1],
  ['two keys in one line', 'title: a: b\n', 1, 8],
  ['wrong indentation', 'a:\n  b: 1\n c: 2\n', 3, 1],
])('scenario: %s is not valid YAML, with line and column', (_, text, line, column) => {
  const path = join(root, 'broken.yaml');
  writeFileSync(path, text);
  const load = () => loadScenario(path);
  expect(load).toThrow(expect.objectContaining({ code: 'NOT_YAML' }));
  expect(load).toThrow(`${path}:${line}:${column}: `);
});
