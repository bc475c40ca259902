/** Each key of a configuration from each source: default, file, variable, flag. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stringify } from 'yaml';
import { configCommands } from '../../../dist/cli/commands/config.js';
import { configJsonSchema, configOptions, keyOf } from '../../../dist/cli/options/config.js';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();
const commands = await configCommands();
const document = configJsonSchema(commands) as {
  properties: Record<string, { properties: Record<string, Row['schema']> }>;
};
const accepts = new Ajv2020({ strict: false }).compile(document);

interface Row {
  section: 'serve' | 'load';
  key: string;
  variable: string;
  flag: string;
  schema: {
    type?: string;
    enum?: string[];
    minimum?: number;
    pattern?: string;
    default?: unknown;
  };
}

const rows = Object.entries(commands).flatMap(([section, command]) =>
  configOptions(command).map((option): Row => {
    const key = keyOf(option);
    const schema = document.properties[section]!.properties[key]!;
    const named = { variable: option.envVar!, flag: option.flags };
    return { section: section as Row['section'], key, ...named, schema };
  }),
);

/** Values of keys whose form the schema does not state, for file, variable and flag. */
const special: Readonly<Record<string, unknown[]>> = {
  url: ['http://a:1', 'http://b:1', 'http://c:1'],
  peer_listen: ['a.example:1', 'b.example:2', '[::1]:3'],
  watch: [false, 'paused', true],
  parameter: [['for_bps=1'], ['for_bps=2'], ['for_bps=3']],
  shard: ['1/2', '1/3', '2/3'],
  start_at: [1, 2, 3].map((day) => `2030-01-0${day}T00:00:00.000Z`),
};

/** Returns three values that differ if the type allows it. */
function samplesOf({ section, key, schema: { type, enum: values, minimum, pattern } }: Row) {
  const known = special[key];
  if (known && !(section === 'serve' && key === 'watch')) return known;
  if (type === 'boolean') return [true, false, true];
  if (values) return [values.at(-1), values[0], values[1]];
  if (type === 'array') return [['https://a:1'], ['https://b:1'], ['https://c:1']];
  if (type === 'integer') return [1, 2, 3].map((more) => (minimum ?? 0) + more);
  if (type === 'number') return [1, 2.5, 3];
  return pattern?.includes('ms)?') ? ['500ms', '1500ms', '2500ms'] : ['a', 'b', 'c'];
}

const textOf = (value: unknown) => String(value);

/** A switch such as --no-ui has a flag and a variable of the opposite sense. */
const isNegated = ({ flag }: Row) => flag.startsWith('--no-');

interface Shown {
  key: string;
  value: unknown;
  source: string;
  place: string | null;
}

async function show({ section, key }: Row, args: readonly string[]): Promise<Shown> {
  const { code, stdout, stderr } = await runCommand(['config', 'show', '--json', section, ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as { values: Shown[] }).values.find((one) => one.key === key)!;
}

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^FOLKMOOT_(?!TEST)/.test(name)) vi.stubEnv(name, undefined);
  }
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function fileWith(value: object): string {
  const file = join(temporaryFolder(folder), 'folkmoot.yaml');
  writeFileSync(file, `# first line\n${stringify(value)}`);
  return file;
}

describe.each(rows)('$section $key:', (row) => {
  const { section, key, variable, flag } = row;
  const [inFile, inVariable, inFlag] = samplesOf(row);

  test('a flag precedes a variable, a variable the file, the file the default', async () => {
    const long = flag.split(' ')[0]!;
    expect(await show(row, [])).toMatchObject({
      value: row.schema.default ?? null,
      source: 'default',
    });
    const file = fileWith({ [section]: { [key]: inFile } });
    const fromFile = await show(row, ['--config', file]);
    expect(fromFile).toEqual({ key, value: inFile, source: 'file', place: `${file}:3` });
    const sense = isNegated(row) ? !inVariable : inVariable;
    vi.stubEnv(variable, textOf(sense));
    const fromVariable = await show(row, ['--config', file]);
    expect(fromVariable).toEqual({ key, value: inVariable, source: 'variable', place: variable });
    const isSwitch = typeof inFlag === 'boolean';
    const fromFlag = await show(row, [
      ...['--config', file],
      ...(isSwitch ? [long] : [`${long}=${textOf(inFlag)}`]),
    ]);
    const value = isSwitch ? !isNegated(row) : inFlag;
    expect(fromFlag).toEqual({ key, value, source: 'flag', place: long });
  });

  test('the JSON Schema and the program accept and refuse the same values', async () => {
    expect(accepts({ [section]: { [key]: inFile } }), JSON.stringify(accepts.errors)).toBe(true);
    const wrong = [{ a: 1 }, null, ...(typeof inFile === 'number' ? ['text', -1] : [7])];
    for (const value of wrong) {
      const file = fileWith({ [section]: { [key]: value } });
      const { code, stdout, stderr } = await runCommand(['config', 'check', file]);
      expect([code, stdout]).toEqual([2, '']);
      for (const part of [`${file}:3: `, `${section}.${key}`]) expect(stderr).toContain(part);
      expect(accepts({ [section]: { [key]: value } })).toBe(false);
    }
  });
});

test('config show: FOLKMOOT_CONFIG names the file, and unknown variables are listed', async () => {
  vi.stubEnv('FOLKMOOT_CONFIG', fileWith({ serve: { port: 1 } }));
  vi.stubEnv('FOLKMOOT_PROT', '2');
  const { stdout } = await runCommand(['config', 'show', '--json', 'serve']);
  const { values, unused_variables } = JSON.parse(stdout);
  expect(values).toContainEqual(expect.objectContaining({ key: 'port', value: 1 }));
  expect(unused_variables).toContain('FOLKMOOT_PROT');
  const { stdout: text } = await runCommand(['config', 'show', 'serve']);
  const copy = join(temporaryFolder(folder), 'copy.yaml');
  writeFileSync(copy, text);
  expect((await runCommand(['config', 'check', copy])).code).toBe(0);
});

test.each([
  ['an unknown key', 'serve: {prot: 3}', ['serve.prot', 'port']],
  ['an unknown section', 'srv: {}', ['srv', 'serve, load']],
  ['a value out of range', 'serve: {port: 70000}', ['serve.port', '70000', '65535']],
  ['a value outside a set', 'serve: {limits: fast}', ['serve.limits', 'spec, bench, off']],
  ['a secret', 'serve: {peer_secret: hunter2}', ['peer_secret_file', 'FOLKMOOT_PEER_SECRET']],
  ['two exclusive options', 'load: {rate: 3, concurrency: 4}', ['rate', 'concurrency']],
  ['an option without the one it needs', 'serve: {control: true}', ['--control', '--scenario']],
  ['an invalid origin', 'serve: {cors: [nope]}', ['--cors', 'nope']],
  ['a list as section', 'serve: [1]', ['serve']],
  ['invalid YAML', 'serve: {', ['folkmoot.yaml:']],
  ['a repeated key', 'serve: {port: 1, port: 2}', ['port']],
])('config check: %s is a usage error with file and line', async (_, yaml, parts) => {
  const file = join(temporaryFolder(folder), 'folkmoot.yaml');
  writeFileSync(file, `# first line\n${yaml}\n`);
  const { code, stdout, stderr } = await runCommand(['config', 'check', file]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^folkmoot: [^\n]+\n$/);
  for (const part of [`${file}:`, ...parts]) expect(stderr).toContain(part);
  expect(stderr).not.toContain('hunter2');
});

test('config: options exclude each other across sources', async () => {
  const file = fileWith({ load: { rate: 5 } });
  const across = ['config', 'show', 'load', '--config', file, '--concurrency', '4'];
  const { code, stderr } = await runCommand(across);
  expect(code).toBe(2);
  for (const part of [`${file}:3`, 'rate', 'concurrency']) expect(stderr).toContain(part);
});

test('config: a switch in a variable is checked', async () => {
  vi.stubEnv('FOLKMOOT_CONTROL', 'maybe');
  const { code, stderr } = await runCommand(['config', 'show', 'serve']);
  expect(code).toBe(2);
  for (const part of ['FOLKMOOT_CONTROL', 'maybe']) expect(stderr).toContain(part);
});

test.each([
  ...['http://u:hunter2@h:1', 'http://hunter2@h:1', 'http://u:hunter2@hunter2@h:1'],
  ...['http://u:a/hunter2@h:1', 'http://u:a,hunter2@h:1', 'http://h:2,http://u:hunter2@h:1'],
  ...['http://a:hunter2@h:2,http://b:hunter2@h:1', 'ftp://u:hunter2@h:1'],
])('config: shows no password of %s, in values and in errors', async (address) => {
  const file = fileWith({ serve: { cluster: address }, load: { url: address } });
  const given = [
    ['config', 'show', 'load', '--url', address],
    ['config', 'show', '--json', 'serve', '--cluster', address],
    ['config', 'show', 'load', '--config', file],
    ['config', 'check', file],
    ['worker', '--queue', address],
    ['worker', '--queue', address.replace(/^\w+/, 'etcd')],
    ['worker', '--queue', address.replace(/^\w+:\/\//, '')],
    ['agent', 'status', 'active', '--url', address],
  ];
  for (const args of given) {
    const { stdout, stderr } = await runCommand(args);
    expect(stdout + stderr, args.join(' ')).not.toContain('hunter2');
    expect(stdout + stderr).not.toBe('');
  }
});

test('config show: hides secrets, and refuses a secret with two sources', async () => {
  const secret = 'f'.repeat(64);
  vi.stubEnv('FOLKMOOT_PEER_SECRET', secret);
  const shown = await runCommand(['config', 'show', '--json', 'serve']);
  expect(shown.stdout).not.toContain(secret);
  expect(JSON.parse(shown.stdout).values).toContainEqual({
    ...{ key: 'peer_secret_file', value: '***' },
    ...{ source: 'variable', place: 'FOLKMOOT_PEER_SECRET' },
  });
  const url = await runCommand(['config', 'show', 'load', '--url', 'http://u:hunter2@h:1']);
  expect(url.stdout).toContain('http://***@h:1');
  vi.stubEnv('FOLKMOOT_PEER_SECRET_FILE', 'peer.secret');
  const twice = await runCommand(['config', 'show', 'serve']);
  expect([twice.code, twice.stdout]).toEqual([2, '']);
  expect(twice.stderr).not.toContain(secret);
  vi.stubEnv('FOLKMOOT_PEER_SECRET_FILE', undefined);
  vi.stubEnv('FOLKMOOT_PEER_SECRET', folder);
  expect((await runCommand(['config', 'show', 'serve'])).code).toBe(2);
});
