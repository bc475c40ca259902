/** Nine copies of one mock count as two: in measures, in the decision and in its certificate. */
import { join } from 'node:path';
import { lacking, output, python } from '../../engine/certificate/python.js';
import { runCommand, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';

const judges = (out: string, ...more: string[]) => {
  const rule = { parameters: { correlation_bps: 4_375, least_effective: 2_000 } };
  const set = (path: string, value: unknown) => ['--set', `${path}=${JSON.stringify(value)}`];
  return simJson(
    'correlated-judges',
    ...['--out', out, ...set('consensus.policy', 'effective'), ...set('consensus.rule', rule)],
    ...more,
  );
};

test('nine copies with .4375 count as two, with an interval that holds two', async () => {
  const out = join(temporaryFolder(), 'judges');
  const { json } = await judges(out, '--set', 'length.blocks=200');
  const { run, groups } = json.reported;
  for (const of of [run, groups.judges!]) {
    expect(of.effective_first).toBeGreaterThan(1.6);
    expect(of.effective_first).toBeLessThan(2.4);
    expect(of.effective_first_low).toBeLessThan(2);
    expect(of.effective_first_high).toBeGreaterThan(2);
    expect(of.error_correlation_first).toBeCloseTo(0.4375, 1);
  }
  const standings = csvRows(join(out, 'blocks.csv')).map((row) => JSON.parse(row.standings!));
  expect(standings.every(({ effective }) => effective === 2_000)).toBe(true);
});

test.skipIf(!python)(`the certificate of nine copies shows two votes${lacking}`, async () => {
  const out = join(temporaryFolder(), 'judges');
  await judges(out, '--set', 'length.blocks=2', '--set', 'signatures=verified');
  const [block] = csvRows(join(out, 'blocks.csv'));
  const { code, stdout } = await runCommand(['certify', out, block!.block_hash!]);
  expect(code).toBe(0);
  const file = join(out, 'certificate.json');
  expect((await runCommand(['certify', out, block!.block_hash!, '--out', file])).code).toBe(0);
  const checked = await runCommand(['check-certificate', file, '--json']);
  const { holds, standings } = JSON.parse(checked.stdout);
  expect({ holds, effective: standings.effective }).toEqual({ holds: true, effective: 2_000 });
  const line = output([stdout])[0]!
    .split('\n')
    .find((one) => one.startsWith('standings: '));
  expect(JSON.parse(line!.slice('standings: '.length))).toEqual(standings);
  expect((await runCommand(['check-certificate', file])).stdout).toContain('"effective":2000');
});
