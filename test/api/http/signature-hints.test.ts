/** Refusals with explanations: signatures, credentials, transactions, allowed values. */
import { oneTransport, type TransportName, world } from '../../support/service/server.js';
import {
  type Agent,
  discuss,
  propose,
  sha256,
  signed,
  transaction,
  vote,
} from '../../support/service/signer.js';
import { GENESIS_HASH } from '../../support/service/world.js';

const HASH = 'a'.repeat(64);
const put = (by: Agent, body = '{"status":"active"}') =>
  signed(by, 'PUT', `/api/v1/agents/${by.agentId}/status`, body);
const signing = (by: Agent, change: (text: string) => string): Agent => ({
  ...by,
  sign: (text) => by.sign(change(text)),
});

async function begin(transport: TransportName, limits: 'spec' | 'bench' = 'bench') {
  const there = await world({ transport, limits });
  return { there, ada: await there.join('Ada') };
}

describe.each(oneTransport)('hints over %s', (transport) => {
  test('point to debug/verify if no mistake matches; diagnose only 20 failures', async () => {
    const { there, ada } = await begin(transport, 'spec');
    const odd = discuss(
      signing(ada, () => 'something else'),
      { block_hash: HASH },
    );
    const answer = await there.send(odd);
    expect(answer.error.details).not.toHaveProperty('mistake');
    expect(answer.error.message).toContain('/api/v1/debug/verify');
    for (let times = 0; times < 19; times += 1) await there.send(odd);
    const last = await there.send(put(signing(ada, (text) => `${text}\n`)));
    expect(last.error.details).not.toHaveProperty('mistake');
  });

  test('describe the format of malformed credentials', async () => {
    const { there, ada } = await begin(transport);
    const request = put(ada);
    const messageFor = async (name: string, value: string) => {
      const headers = { ...request.headers, [name]: value };
      const { error } = await there.send({ ...request, headers });
      expect(error.details.reason).toBe('MALFORMED');
      return error.message;
    };
    const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
    const signature = request.headers['X-Agent-Signature']!;
    expect(await messageFor('X-Agent-Signature', base64(signature))).toContain('not base64');
    expect(await messageFor('X-Agent-Public-Key', base64(ada.publicKey))).toContain('not base64');
    expect(await messageFor('X-Agent-Public-Key', `0x${ada.publicKey}`)).toContain('prefix 0x');
    expect(await messageFor('X-Timestamp', '1767225600')).toContain('seconds');
    expect(await messageFor('X-Timestamp', '1767225600000')).toContain('milliseconds');
    expect(await messageFor('X-Timestamp', '2026-01-01T00:00:00')).toContain('+01:00');
    expect(await messageFor('X-Timestamp', '2026-01-01T00:00:00+0000')).toContain('write +00:00');
    expect(await messageFor('X-Timestamp', '2026-01-01T00:00:00-03')).toContain('write -03:00');
    expect(await messageFor('X-Timestamp', '2026-01-01 00:00:00Z')).toContain('write T');
    const both = await messageFor('X-Timestamp', '2026-01-01 00:00:00.5+0530');
    expect(both).toMatch(/write T .* and write \+05:30/);
    expect(await messageFor('X-Timestamp', '2026-02-30 00:00:00Z')).not.toContain('write');
    const voted = await there.send(vote(ada, { block_hash: HASH }, '2026-01-01 00:00:00Z'));
    expect(voted.error.message).toContain('write T');
  });

  test('name the signing input of a transaction signed for another network', async () => {
    const { there, ada } = await begin(transport);
    const networkId = await there.networkId();
    const good = transaction(ada, networkId, 'one');
    const bad = transaction(ada, 'elsewhere', 'two');
    const fields = { parent_hash: GENESIS_HASH, transactions: [good, bad] };
    const { error } = await there.send(propose(ada, fields));
    expect(error.message).toContain(networkId);
    expect(error.details).toMatchObject({
      ...{ kind: 'transaction', pointer: '/transactions/1/signature', index: 1 },
      ...{ network_id: networkId, signer: ada.publicKey },
      expected_input_sha256: sha256(`agentnet-v1-tx\n${networkId}\n${sha256('two')}`),
    });
  });
});
