/** The client address behind proxies. */
import { expect, test } from 'vitest';
import { clientAddress } from '../../../dist/api/limits/limits.js';

const trusted = new Set(['10.0.0.1', '10.0.0.2']);

test.each([
  ['the peer itself, if it is not a trusted proxy', '7.7.7.7', '1.1.1.1', '7.7.7.7'],
  ['the address that a trusted proxy reports', '10.0.0.1', '1.1.1.1', '1.1.1.1'],
  ['ignores an address that the client claimed', '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
  ['the client behind a chain of trusted proxies', '10.0.0.1', '1.1.1.1, 10.0.0.2', '1.1.1.1'],
  ['the trusted proxy itself, if it reports no address', '10.0.0.1', undefined, '10.0.0.1'],
  ['a trusted proxy with an IPv4-mapped address', '::ffff:10.0.0.1', '1.1.1.1', '1.1.1.1'],
  ['an address without its port', '10.0.0.1', '1.1.1.1:567', '1.1.1.1'],
  ['a trusted hop with a port', '10.0.0.1', '1.1.1.1:567, 10.0.0.2:80', '1.1.1.1'],
  ['an IPv6 address without its port', '10.0.0.1', '[2001:db8::1]:567', '2001:db8::1'],
  ['an IPv6 address without its brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['a plain IPv6 address', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['an IPv4-mapped address with a port, as IPv4', '10.0.0.1', '[::ffff:1.1.1.1]:5', '1.1.1.1'],
])('address: %s', (_, peer, forwarded, expected) => {
  expect(clientAddress(peer, forwarded, trusted)).toBe(expected);
});
