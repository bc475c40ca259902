/** Forged certificates with recomputed digests. Each is refused because of its change. */
import { checkCertificate } from 'folkmoot';
import { expect, test } from 'vitest';
import { forged } from './chain.js';
import { bases, forgedText, forgeries, otherWeight, valid } from './forgeries.js';

function resultOf(certificate: string): string {
  const checked = checkCertificate(certificate);
  return checked.holds ? 'holds' : checked.code;
}

test('checkCertificate: accepts every valid certificate of the shared set', async () => {
  for (const text of await valid()) expect(resultOf(text)).toBe('holds');
});

test.each(forgeries)('checkCertificate: refuses %s', async (...forgery) => {
  const [, , code] = forgery;
  expect(resultOf(await forgedText(forgery))).toBe(code);
});

test('checkCertificate: detects another electorate only with a trusted digest', async () => {
  const { text } = await bases();
  const checked = checkCertificate(text);
  if (!checked.holds) throw new Error(checked.problem);
  const other = forged(text, otherWeight);
  expect(resultOf(other)).toBe('holds');
  const { last: seq, digest } = checked.spans.at(-1)!;
  const trusted = [{ seq, digest }];
  expect(checkCertificate(text, { trusted }).holds).toBe(true);
  expect(checkCertificate(other, { trusted }).holds).toBe(false);
});
