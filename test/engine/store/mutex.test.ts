/** The transaction mutex. */
import { expect, test } from 'vitest';
import { withMutex } from '../../../dist/engine/store/environment.js';

test('withMutex: runs concurrent transactions in order, one at a time', async () => {
  const story: string[] = [];
  let running = 0;
  const work = withMutex(async (name: string) => {
    running += 1;
    story.push(`${name} of ${running}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (name === 'bad') throw new Error('bad');
  });
  const all = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map(work));
  expect(story).toEqual(['a of 1', 'b of 1', 'bad of 1', 'c of 1', 'd of 1']);
  expect(all.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});

test('withMutex: leaves a turn of the event loop between queued transactions', async () => {
  const story: string[] = [];
  const work = withMutex(async (name: string) => {
    story.push(name);
    await null;
    setImmediate(() => story.push(`after ${name}`));
  });
  await Promise.all([work('a'), work('b')]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(story).toEqual(['a', 'after a', 'b', 'after b']);
});
