/**
 * Selection of the etcd member for a call. A silent member is skipped while a different member
 * answers.
 */
import { expect, test } from 'vitest';
import { MemberPicker } from '../../../dist/cluster/etcd/client.js';

const asked = (turns: MemberPicker) => turns.now().map(({ at }) => at);

test('member picker: tries a failed member last, and again in its turn', () => {
  const turns = new MemberPicker(3);
  expect(asked(turns)).toEqual([0, 1, 2]);
  turns.failed(0, false);
  expect(asked(turns)).toEqual([1, 2, 0]);
  // A failed call to the previous first member is out of date.
  turns.failed(0, false);
  expect(asked(turns)).toEqual([1, 2, 0]);
});

test('member picker: puts a silent member last until it answers', () => {
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

test('member picker: tries all if all were silent; rotates watches', () => {
  const turns = new MemberPicker(2);
  turns.failed(0, true);
  turns.failed(1, true);
  expect(turns.now()).toHaveLength(2);
  expect(new Set([turns.watch(), turns.watch()]).size).toBe(2);
});
