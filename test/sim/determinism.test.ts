/** checkDeterminism: runs twice in this process and reports the first difference. */
import { checkDeterminism } from 'folkmoot/testing';
import { temporaryFolder } from '../support/fixture.js';
import { scripted, small } from './sweep/scenarios.js';

test('check: accepts a deterministic run', async () => {
  const found = await checkDeterminism(small(8), { seed: 'again' });
  expect(found).toMatchObject({ same: true, difference: null });
  expect(found.digest).toMatch(/^[0-9a-f]{64}$/);
  expect((await checkDeterminism(small(8), { seed: 'another' })).digest).not.toBe(found.digest);
});

test('check: finds a script that counts outside its memory, and names the voter', async () => {
  const folder = temporaryFolder();
  // The module is loaded once for both runs, so its counter is shared.
  const body = `const calls = (globalThis.folkmootCalls = (globalThis.folkmootCalls ?? 0) + 1);
    return { do: 'vote', decision: 'approve', reason: String(calls) };`;
  const { same, difference } = await checkDeterminism(scripted(folder, body), { folder });
  expect(same).toBe(false);
  expect(difference?.where).toMatch(/^entry \d+ \(vote\)$/);
  expect(difference?.details.by).toMatch(/\(key [0-9a-f]{64}\) on block [0-9a-f]{64}$/);
  expect(difference?.details.field).toBe('body.reason');
  expect(Number(difference?.details.inline?.slice(1, -1))).toBeGreaterThan(
    Number(difference?.details.pool?.slice(1, -1)),
  );
});
