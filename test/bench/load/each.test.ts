import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachLimited } from '../../../dist/bench/load/server.js';

const all = Array.from({ length: 1_000 }, (_, index) => index);

test('forEachLimited: handles each item once, with limited concurrency', async () => {
  const seen: number[] = [];
  let [underWay, most] = [0, 0];
  await forEachLimited(all, 7, async (one) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await nextTurn();
    seen.push(one);
    underWay -= 1;
  });
  expect([seen.sort((a, b) => a - b), most]).toEqual([all, 7]);
});

test('forEachLimited: starts no more work after the first failure', async () => {
  let begun = 0;
  const work = forEachLimited(all, 7, async (one) => {
    begun += 1;
    await nextTurn();
    if (one === 20) throw new Error('the server went away');
  });
  await expect(work).rejects.toThrow('the server went away');
  const atFailure = begun;
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  expect(begun - atFailure).toBeLessThanOrEqual(7);
});
