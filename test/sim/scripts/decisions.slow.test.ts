/** A sweep over a protocol whose honest agents decide differently in some cells. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planSweep, sweep } from 'folkmoot/sim';
import { build } from '../../../dist/cli/output/provenance.js';
import { csvRows } from '../../support/runs.js';
import { honest, scripted } from './fixture.js';

const script = `
  export const start = ({ me, agentsOf, parameters }) => {
    const place = agentsOf(me.group).indexOf(me.ordinal);
    return { do: 'decide', slot: 7, value: place === 0 ? 0 : parameters.other };
  };`;

test('sweep: a conflict is a result with measures, and does not end the sweep', async () => {
  const { folder, group } = scripted(script, { other: 0 });
  const file = join(folder, 'splits.json');
  const other = { path: 'agents.own.strategy.parameters.other', name: 'other', values: [0, 1] };
  const scenario = {
    ...{ title: 'Splits', signatures: 'none', agents: [honest, group], length: { blocks: 2 } },
    sweep: { factors: [other], replicates: 2, responses: ['slot_conflicts'] },
  };
  writeFileSync(file, JSON.stringify(scenario));
  const out = join(folder, 'sweep');
  const { verdicts, failed } = await sweep(planSweep(file), { out, made: build(), jobs: 1 });
  expect([verdicts.pass, verdicts.conflict, failed]).toEqual([2, 2, null]);
  const rows = csvRows(join(out, 'summary.csv'));
  const means = (name: string) =>
    rows.filter(({ measure }) => measure === name).map(({ mean }) => mean);
  expect([means('slot_conflicts'), means('passed')]).toEqual([
    ['0', '1'],
    ['1', '0'],
  ]);
});
