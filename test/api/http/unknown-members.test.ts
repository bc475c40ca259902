/** Unknown members: at most 512 bytes of canonical JSON in total. */
import fc from 'fast-check';
import { canonical } from 'folkmoot';
import { expect, test } from 'vitest';
import { unknownMembers } from '../../../dist/api/checks/unknown-members.js';
import { oneTransport, world } from '../../support/service/server.js';
import { propose, signed, status, transaction } from '../../support/service/signer.js';
import { expectError, GENESIS_HASH } from '../../support/service/world.js';

const BAD = { status: 'active' };
/** Returns a member's size as canonical JSON, including colon and comma. */
const bytesOf = (name: string, value: unknown) =>
  Buffer.byteLength(canonical(name)) + Buffer.byteLength(canonical(value)) + 2;

test('unknown members: allow exactly 512 bytes of any values', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (members) => {
      const unknown = Object.entries(members).filter(
        ([name]) => !['status', 'reason', 'expected_duration', '__proto__'].includes(name),
      );
      const all = unknown.reduce((sum, [name, value]) => sum + bytesOf(name, value), 0);
      const body = { ...BAD, ...Object.fromEntries(unknown) };
      expect(unknownMembers('status', body).refusal === null).toBe(all <= 512);
      // Sends as much as fits, then one byte more.
      const rest = 512 - all - bytesOf('filling', '');
      if (rest < 0) return;
      const full = { ...body, filling: 'x'.repeat(rest) };
      expect(unknownMembers('status', full).refusal).toBe(null);
      const more = { ...body, filling: 'x'.repeat(rest + 1) };
      expect(unknownMembers('status', more).refusal?.pointer).toBe('/filling');
    }),
    { numRuns: 300 },
  );
});

test.each(
  oneTransport,
)('unknown members over %s: refuses the member that exceeds the limit', async (transport) => {
  const there = await world({ transport });
  const ada = await there.join('Ada');
  const before = await there.digest();
  const far = await there.send(status(ada, { ...BAD, a: 1, 'b/c': 'x'.repeat(600) }));
  expectError(far, 400, 'INVALID_REQUEST', 'SCHEMA');
  expect(far.error.details.pointer).toBe('/b~1c');
  const one = transaction(ada, await there.networkId(), 'pay');
  const padded = { ...one, note: 'x'.repeat(200) };
  const send = (transactions: unknown[]) =>
    there.send(propose(ada, { parent_hash: GENESIS_HASH, transactions }));
  const deep = await send([padded, padded, padded]);
  expect(deep.error.details.pointer).toBe('/transactions/2/note');
  expect(await there.digest()).toBe(before);
  expect((await send([padded])).status).toBe(201);
  const path = `/api/v1/agents/${ada.agentId}/status`;
  await there.do(signed(ada, 'PUT', path, { ...BAD, note: 'x'.repeat(400) }), 200);
});
