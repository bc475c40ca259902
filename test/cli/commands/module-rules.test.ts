/** `check-certificate --rule`: modules run only if the operator names them. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, newPopulation } from '../../engine/helpers.js';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { root } from '../../support/paths.js';

const sixty = join(root, 'examples/rules/sixty.js');
const source = readFileSync(sixty, 'utf8');
const sha256 = createHash('sha256').update(source).digest('hex');

/** Writes the certificate of a block that the module finalized. */
async function certificateIn(folder: string, rule = source): Promise<string> {
  const path = join(folder, 'data');
  const genesis = { policy: 'module', rule: { source: rule } };
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const agents = await people.joinMany(5, ['validator', 'producer']);
  const hash = await people.open(agents[0]!);
  await people.votes(agents, hash, 'approve');
  answerOf(await people.status(agents[0]!, 'inactive'));
  const file = join(folder, 'c.json');
  const { code, stderr } = await runCommand(['certify', path, hash, '--out', file]);
  expect([code, stderr]).toEqual([0, '']);
  return file;
}

test('check-certificate: runs a module that the operator names', async () => {
  const file = await certificateIn(temporaryFolder());
  const { code, stdout, stderr } = await runCommand(['check-certificate', file, '--rule', sixty]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/With policy module .* finalized\./);
  expect(stdout).not.toContain(sha256);
  const json = await runCommand(['check-certificate', file, '--rule', sixty, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ holds: true, rules: [{ file: sixty, sha256 }] });
});

test('check-certificate: without the module, lists it among the assumptions', async () => {
  const folder = temporaryFolder();
  const file = await certificateIn(folder);
  const other = join(folder, 'other.js');
  writeFileSync(other, `${source}\n`);
  for (const rules of [[], ['--rule', other], ['--rule', other, '--rule', other]]) {
    const ended = await runCommand(['check-certificate', file, ...rules]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(new RegExp(`Assumes:[^]*module with SHA-256 ${sha256}`));
    expect(ended.stdout).not.toMatch(/With policy module/);
    expect(ended.stderr).toContain('--rule FILE');
  }
  const both = ['--rule', other, '--rule', sixty];
  expect(await runCommand(['check-certificate', file, ...both])).toMatchObject({ stderr: '' });
});

test('check-certificate: never runs the module of a certificate on its own', async () => {
  // The module decides at once during voting, but does not end in a check after many calls.
  const folder = temporaryFolder();
  const rule = 'export default { decide: ({ approve }) => (approve > 0 ? "finalized" : null) };';
  const file = await certificateIn(folder, rule);
  const forged = join(folder, 'forged.json');
  const loops = 'export default { decide: ({ approve }) => { for (;;); } };';
  const text = readFileSync(file, 'utf8');
  const inside = (value: string) => JSON.stringify(JSON.stringify(value)).slice(1, -1);
  writeFileSync(forged, text.replace(inside(rule).slice(2, -2), inside(loops).slice(2, -2)));
  expect(readFileSync(forged, 'utf8')).not.toBe(text);
  const ended = await runCommand(['check-certificate', forged, '--rule', sixty]);
  expect(ended).toMatchObject({ code: 12, stdout: '' });
});
