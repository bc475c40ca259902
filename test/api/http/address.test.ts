/** The client address behind proxies. */
import { expect, test } from 'vitest';
import { clientAddress } from '../../../dist/api/limits/connections.js';

const trusted = new Set(['10.0.0.1', '10.0.0.2']);

test.each([
  ['the peer itself, when it is no trusted proxy', '7.7.7.7', '1.1.1.1', '7.7.7.7'],
  ['what a trusted proxy says', '10.0.0.1', '1.1.1.1', '1.1.1.1'],
  ['not what the client claimed before it', '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
  ['through a chain of trusted proxies', '10.0.0.1', '1.1.1.1, 10.0.0.2', '1.1.1.1'],
  ['a proxy that says nothing is itself', '10.0.0.1', undefined, '10.0.0.1'],
  ['an IPv4 address inside IPv6', '::ffff:10.0.0.1', '1.1.1.1', '1.1.1.1'],
  ['a port behind an address', '10.0.0.1', '1.1.1.1:567', '1.1.1.1'],
  ['a port behind a trusted hop', '10.0.0.1', '1.1.1.1:567, 10.0.0.2:80', '1.1.1.1'],
  ['IPv6 with a port', '10.0.0.1', '[2001:db8::1]:567', '2001:db8::1'],
  ['IPv6 in brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['IPv6 as it is', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['an IPv4 address inside IPv6, with a port', '10.0.0.1', '[::ffff:1.1.1.1]:5', '1.1.1.1'],
])('address: %s', (_, peer, forwarded, expected) => {
  expect(clientAddress(peer, forwarded, trusted)).toBe(expected);
});
