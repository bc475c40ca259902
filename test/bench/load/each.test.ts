import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachLimited } from '../../../dist/bench/load/server.js';

test('forEachLimited: limits concurrency, and starts nothing after the first failure', async () => {
  const all = Array.from({ length: 1_000 }, (_, index) => index);
  for (const failing of [Number.NaN, 20]) {
    const seen: number[] = [];
    let [underWay, most] = [0, 0];
    const work = forEachLimited(all, 7, async (one) => {
      underWay += 1;
      most = Math.max(most, underWay);
      seen.push(one);
      await nextTurn();
      underWay -= 1;
      if (one === failing) throw new Error('the server went away');
    });
    if (failing === 20) await expect(work).rejects.toThrow('the server went away');
    else await work;
    const atEnd = seen.length;
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    expect([most, seen.length - atEnd <= 7]).toEqual([7, true]);
    expect(seen).toEqual(all.slice(0, seen.length));
    expect(seen.length === all.length).toBe(failing !== 20);
  }
});
