/** The addresses and certificate files of an etcd client. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemberPicker } from '../../../dist/cluster/etcd/client.js';
import { parseEndpoints, readTls } from '../../../dist/cluster/etcd/wire.js';
import { hostClock } from '../../../dist/engine/store/host-clock.js';
import { temporaryFolder } from '../../support/fixture.js';

test.each([
  ['etcd://one', ['one:2379']],
  ['etcd://127.0.0.1:23790/', ['127.0.0.1:23790']],
  ['etcd://a:1,b:2,c', ['a:1', 'b:2', 'c:2379']],
  ['etcd://[::1]:5,etcd-1.example', ['[::1]:5', 'etcd-1.example:2379']],
  ['etcd://a,a:2379,b', ['a:2379', 'b:2379']],
])('address: parses %s', (address, endpoints) => {
  expect(parseEndpoints(address)).toEqual(endpoints);
});

test.each<[string, string]>([
  ['', 'INVALID_ADDRESS'],
  ['etcd://', 'INVALID_ADDRESS'],
  ['a:2379', 'INVALID_ADDRESS'],
  ['http://a:2379', 'INVALID_ADDRESS'],
  ['etcd://a,', 'INVALID_MEMBER'],
  ['etcd://a:0', 'INVALID_MEMBER'],
  ['etcd://a:65536', 'INVALID_MEMBER'],
  ['etcd://a:b', 'INVALID_MEMBER'],
  ['etcd://user:secret@a', 'INVALID_ADDRESS'],
  ['etcd://a/b', 'INVALID_ADDRESS'],
  ['etcd://a?x=1', 'INVALID_ADDRESS'],
  ['etcd://a b', 'INVALID_ADDRESS'],
  ['etcd://dns:///a', 'INVALID_ADDRESS'],
  [`etcd://${Array.from({ length: 17 }, (_, index) => `m${index}`).join(',')}`, 'TOO_MANY_MEMBERS'],
])('address: refuses %s with %s', (address, problem) => {
  const refused = expect.objectContaining({ source: 'user', problem });
  expect(() => parseEndpoints(address)).toThrow(refused);
});

test('tls: refuses files that are missing, not PEM, or half of a pair', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'ca.pem');
  const problem = (files: Parameters<typeof readTls>[0]) => {
    try {
      return readTls(files);
    } catch (error) {
      expect(error).toMatchObject({ source: 'user' });
      return (error as { problem: string }).problem;
    }
  };
  expect([problem({}), problem({ ca: file })]).toEqual([undefined, 'FILE_UNREADABLE']);
  writeFileSync(file, 'hello');
  expect(problem({ ca: file })).toBe('NOT_PEM');
  writeFileSync(file, '-----BEGIN CERTIFICATE-----');
  expect(problem({ ca: file })).toEqual({ ca: readFileSync(file) });
  expect(problem({ cert: file })).toBe('CERTIFICATE_WITHOUT_KEY');
  expect(problem({ key: file })).toBe('CERTIFICATE_WITHOUT_KEY');
});

// ---- Selection of the etcd member for a call. A silent member is skipped while a different member
// answers.

const asked = (turns: MemberPicker) => turns.now().map(({ at }) => at);

test('member picker: tries a failed member last, and again in its turn', () => {
  const turns = new MemberPicker(3, hostClock);
  expect(asked(turns)).toEqual([0, 1, 2]);
  turns.failed(0, false);
  expect(asked(turns)).toEqual([1, 2, 0]);
  // A failed call to the previous first member is out of date.
  turns.failed(0, false);
  expect(asked(turns)).toEqual([1, 2, 0]);
});

test('member picker: puts a silent member last until it answers', () => {
  const turns = new MemberPicker(3, hostClock);
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
  const turns = new MemberPicker(2, hostClock);
  turns.failed(0, true);
  turns.failed(1, true);
  expect(turns.now()).toHaveLength(2);
  expect(new Set([turns.watch(), turns.watch()]).size).toBe(2);
});
