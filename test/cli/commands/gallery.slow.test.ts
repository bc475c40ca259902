/** `folkmoot gallery`: all shipped scenarios, and the outcome of their own runs. */
import { shippedScenarios } from 'folkmoot/sim';
import { folkmoot } from '../../support/cli.js';
import { simJson } from '../../support/command.js';

interface Row {
  name: string;
  command: string;
  expect: string;
  verdict?: string;
  blocks?: Record<string, number>;
  outcomes: string;
}

const rowsOf = async (...args: string[]) => {
  const { code, stdout } = await folkmoot(['gallery', ...args, '--json']);
  return { code, rows: JSON.parse(stdout) as Row[] };
};

test('gallery: lists every shipped scenario with a command that watches it', async () => {
  const { code, rows } = await rowsOf();
  const names = shippedScenarios().map(({ name }) => name);
  expect([code, rows.map(({ name }) => name)]).toEqual([0, names]);
  for (const { name, command, outcomes } of rows) {
    expect([command, outcomes !== '']).toEqual([`folkmoot sim ${name} --watch`, true]);
  }
});

test('gallery: shows the outcome of a run, which is that of sim', async () => {
  const { code, rows } = await rowsOf('capital', '--run');
  const { json } = await simJson('capital', '--log', 'none');
  const { verdict, measures } = json as unknown as {
    verdict: string;
    measures: Record<string, number>;
  };
  const [row] = rows;
  expect([code, row!.verdict, row!.expect]).toEqual([0, verdict, 'pass']);
  expect(row!.blocks!.finalized).toBe(measures.finalized_share);
  // The recorded run has the same outcomes.
  expect(row!.outcomes).toBe('F'.repeat(measures.finalized!));
  const text = await folkmoot(['gallery', 'capital', '--run']);
  expect(text.stdout).toMatch(/^ {2}\[[#x.~ ]{40}\] pass in \d+\.\d s$/m);
});
