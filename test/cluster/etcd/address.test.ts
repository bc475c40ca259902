/** The address of an etcd, as users give it. */
import { expect, test } from 'vitest';
import { EtcdAddressError, parseEndpoints } from '../../../dist/cluster/etcd/wire.js';

test.each([
  ['etcd://one', ['one:2379']],
  ['etcd://127.0.0.1:23790/', ['127.0.0.1:23790']],
  ['etcd://a:1,b:2,c', ['a:1', 'b:2', 'c:2379']],
  ['etcd://[::1]:5,etcd-1.example', ['[::1]:5', 'etcd-1.example:2379']],
  ['etcd://a,a:2379,b', ['a:2379', 'b:2379']],
])('address: %s', (address, endpoints) => {
  expect(parseEndpoints(address)).toEqual(endpoints);
});

test.each([
  '',
  'etcd://',
  'a:2379',
  'http://a:2379',
  'etcd://a,',
  'etcd://a:0',
  'etcd://a:65536',
  'etcd://a:b',
  'etcd://user:secret@a',
  'etcd://a/b',
  'etcd://a?x=1',
  'etcd://a b',
  'etcd://dns:///a',
  `etcd://${Array.from({ length: 17 }, (_, index) => `m${index}`).join(',')}`,
])('address: %s is none', (address) => {
  expect(() => parseEndpoints(address)).toThrow(EtcdAddressError);
  expect(() => parseEndpoints(address)).toThrow(/expected/);
});
