/** Which member of an etcd is asked: one that was silent is left out, while there are others. */
import { expect, test } from 'vitest';
import { MemberPicker } from '../../../dist/cluster/etcd/client.js';

const asked = (turns: MemberPicker) => turns.now().map(({ at }) => at);

test('turns: who cannot help is asked last of all, and again once it is his turn', () => {
  const turns = new MemberPicker(3);
  expect(asked(turns)).toEqual([0, 1, 2]);
  turns.failed(0, false);
  expect(asked(turns)).toEqual([1, 2, 0]);
  // Somebody who asked the first one before has been overtaken.
  turns.failed(0, false);
  expect(asked(turns)).toEqual([1, 2, 0]);
});

test('turns: who was silent comes last, until it has answered', () => {
  const turns = new MemberPicker(3);
  turns.failed(0, true);
  turns.failed(1, false);
  expect(turns.now()).toEqual([
    { at: 2, leftOut: false },
    { at: 1, leftOut: false },
    { at: 0, leftOut: true },
  ]);
  expect([turns.watch(), turns.watch(), turns.watch()]).not.toContain(0);
  turns.answered(0);
  expect(asked(turns)).toEqual([2, 0, 1]);
});

test('turns: where all were silent, all are asked; watches go from one to the next', () => {
  const turns = new MemberPicker(2);
  turns.failed(0, true);
  turns.failed(1, true);
  expect(turns.now()).toHaveLength(2);
  expect(new Set([turns.watch(), turns.watch()]).size).toBe(2);
});
