/** The engine agrees with the outcome of each step of the suite, and with the digests. */
import {
  type Case,
  caseFile,
  caseLines,
  vectorCases,
} from '../../../dist/sim/conformance/cases.js';
import type { ExpectedLine } from '../../../dist/sim/conformance/format.js';
import { playCase } from '../../../dist/sim/conformance/harness.js';
import { heavy } from '../../support/counts.js';

/** Returns a step with its outcome in the short form of the case files. */
function recorded(step: string, { outcome }: ExpectedLine): string {
  const { outcome: _, ...rest } = JSON.parse(step) as { outcome?: string };
  if (!outcome) return JSON.stringify(rest);
  const { result, code, reason = code, pointer = '' } = outcome;
  const short = result === 'refused' ? `${reason} ${pointer}`.trim() : result;
  return JSON.stringify({ ...rest, outcome: short });
}

const textOf = (lines: readonly string[]) => `${lines.join('\n')}\n`;
const played: Case[] = [];

test.each(vectorCases())('vectors: the engine agrees with $name', heavy, async (row) => {
  const { expected, digest, log_digest } = await playCase(row);
  played.push({ ...row, log_digest, digest });
  const [, ...lines] = expected;
  const steps = caseLines(row.name).map((step, index) => recorded(step, lines[index]!));
  await expect(textOf(steps)).toMatchFileSnapshot(caseFile(row.name));
});

test('vectors: the index has the digests of each case', async () => {
  const rows = textOf(played.map((row) => JSON.stringify(row)));
  await expect(rows).toMatchFileSnapshot(caseFile('index'));
});
