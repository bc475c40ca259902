/** `folkmoot certify` and `check-certificate`: sources, exit codes, errors. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectOneLine, runCommand, simJson } from '../../support/command.js';
import { bodyOf, logLines, suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();
const run = join(folder, 'run');
const printed = join(folder, 'run.ndjson');
const file = join(folder, 'c.json');
let block: string;
let digests: string[];

const done = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

beforeAll(async () => {
  await simJson('--agents', '20', '--blocks', '6', '--seed', '4', '--out', run);
  writeFileSync(printed, await done('log', run));
  const lines = await logLines(run);
  digests = lines.map(({ digest }) => digest);
  const votes = lines.filter(({ kind }) => kind === 'vote');
  block = bodyOf<{ block_hash: string }>(votes[0]!.body).block_hash;
  writeFileSync(file, await done('certify', run, block));
});

test('certify: writes the same certificate from a run, a printed log and archives', async () => {
  const text = readFileSync(file, 'utf8');
  expect(await done('certify', printed, block)).toBe(text);
  await done('archive', join(run, 'network'), '--before', '60');
  expect(await done('certify', run, block)).toBe(text);
});

test('certify: accepts a height or a hash prefix; --out writes a new file', async () => {
  const text = readFileSync(file, 'utf8');
  const { claim } = JSON.parse(await done('check-certificate', file, '--json'));
  const out = join(folder, 'by-height.json');
  expect(await done('certify', run, String(claim.height), '--out', out)).toBe('');
  expect(readFileSync(out, 'utf8')).toBe(text);
  expect(await done('certify', printed, block.slice(0, 10).toUpperCase())).toBe(text);
});

test('check-certificate: says what it proves and what must be trusted', async () => {
  const said = await done('check-certificate', file);
  expect(said).toMatch(new RegExp(`^valid: block ${block} of network folkmoot-sim`));
  expect(said).toContain('Proves:\n- Key ');
  expect(said).toMatch(/Assumes:\n- .*digest [0-9a-f]{64} after entry \d+/);
  const { spans, claim } = JSON.parse(await done('check-certificate', file, '--json'));
  const { last } = spans.at(-1);
  expect(claim.block_hash).toBe(block);
  const bound = await done(
    'check-certificate',
    file,
    '--trusted-digest',
    `${last}:${digests[last]}`,
  );
  expect(bound).toMatch(new RegExp(`entry ${last}\\b`));
});

test('check-certificate: exits with code 12 for an invalid certificate', async () => {
  const other = join(folder, 'other.json');
  writeFileSync(other, readFileSync(file, 'utf8').replace('"height":1', '"height":2'));
  const refused = await runCommand(['check-certificate', other]);
  expect([refused.code, refused.stdout]).toEqual([12, '']);
  expectOneLine(refused);
  const json = await runCommand(['check-certificate', other, '--json']);
  expect([json.code, json.stderr]).toEqual([12, '']);
  expect(JSON.parse(json.stdout)).toMatchObject({ holds: false });
  const foreign = ['--trusted-digest', `0:${'ab'.repeat(32)}`];
  expectOneLine(await runCommand(['check-certificate', file, ...foreign]));
  const small = await runCommand(['check-certificate', file, '--most', '1']);
  expect([small.code, small.stderr]).toEqual([12, expect.stringContaining('1024')]);
});

test('certify: exits with code 2 for a network without signatures', async () => {
  const unsigned = join(folder, 'unsigned');
  await simJson('--agents', '20', '--blocks', '2', '--unsigned', '--out', unsigned);
  const vote = (await logLines(unsigned)).find(({ kind }) => kind === 'vote')!;
  const { block_hash } = bodyOf<{ block_hash: string }>(vote.body);
  const ended = await runCommand(['certify', unsigned, block_hash]);
  expect([ended.code, ended.stdout]).toEqual([2, '']);
  expectOneLine(ended);
});
