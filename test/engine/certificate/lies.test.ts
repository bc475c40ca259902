/** Forged certificates, whose digests fit: each is refused for what was changed. */
import { checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { forged } from './chain.js';
import { bases, forgedText, forgeries, otherWeight, valid } from './forgeries.js';

function problemOf(certificate: string): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.problem;
}

test('checkCertificate: takes every certificate of the shared set that holds', async () => {
  for (const text of await valid()) expect(problemOf(text)).toBe('holds');
});

test.each(forgeries)('checkCertificate: refuses %s', async (...forgery) => {
  const [, , problem] = forgery;
  expect(problemOf(await forgedText(forgery))).toMatch(problem);
});

test('checkCertificate: tells another electorate by a trusted digest alone', async () => {
  const { text } = await bases();
  const checked = checkCertificate(text);
  if (!checked.holds) throw new Error(checked.problem);
  const other = forged(text, otherWeight);
  expect(problemOf(other)).toBe('holds');
  const { last: seq, digest } = checked.spans.at(-1)!;
  const trusted = [{ seq, digest }];
  expect(checkCertificate(text, { trusted }).holds).toBe(true);
  expect(checkCertificate(other, { trusted }).holds).toBe(false);
});
