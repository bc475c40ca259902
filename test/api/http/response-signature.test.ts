/** Signed responses that a client verifies, with a lying proxy in between. */
import { createHash } from 'node:crypto';
import { generateKeyPair } from 'folkmoot';
import { AgentClient, type AgentClientOptions, generateKeys } from 'folkmoot/client';
import { responseInput, voteInput } from 'folkmoot/signing';
import { oneTransport, serve, type TransportName } from '../../support/service/server.js';

const keys = generateKeyPair();
const capabilities = ['validator', 'producer'] as const;
const nowhere = '0'.repeat(64);

async function started(transport: TransportName, more: Partial<AgentClientOptions> = {}) {
  const service = await serve({ transport, limits: 'off', server: { responseKeys: keys } });
  onTestFinished(() => service.close());
  const options = { url: service.url, keys: generateKeys(), serverKey: keys.publicKeyHex };
  const client = new AgentClient({ ...options, ...more });
  const register = () => client.register({ name: 'Ada', personality: 'lawful', capabilities });
  return { client, service, register };
}

/** Creates a proxy that records responses and can replace them. */
function proxy() {
  const seen: Response[] = [];
  let give: (own: Response) => Response | undefined = (own) => own;
  const between: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    const body = await answer.arrayBuffer();
    const { status, headers } = answer;
    seen.push(new Response(body, { status, headers }));
    return give(new Response(body, { status, headers })) as Response;
  };
  return {
    fetch: between,
    /** Replaces responses from now on. */
    gives(answer: (own: Response) => Response | undefined) {
      give = answer;
    },
    /** Returns the recorded responses. */
    answers: () => seen.map((one) => one.clone()),
  };
}

const unproven = { name: 'ResponseSignatureError' };

describe.each(oneTransport)('response signature over %s:', (transport) => {
  test('signs every kind of response with the pinned key', async () => {
    const { client, register } = await started(transport);
    await register();
    const { head_hash } = await client.networkState();
    const block = await client.propose({ parent_hash: head_hash, transactions: ['hello'] });
    const voted = await client.vote({ block_hash: block.block_hash, decision: 'approve' });
    expect(voted.block_status).toBe('finalized');
    await client.postMeme({ file: Buffer.from('gm'), caption: 'hello\nyou', tags: ['gm'] });
    await client.setStatus('active');
    await client.blocks({ limit: 1, status: 'finalized' });
    await expect(client.block(nowhere)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(client.vote({ block_hash: nowhere, decision: 'approve' })).rejects.toMatchObject({
      reason: 'UNKNOWN_BLOCK',
    });
  });

  test('covers a text that a third party can rebuild', async () => {
    const { service } = await started(transport);
    const fields = { block_hash: nowhere, decision: 'approve', timestamp: '2025-01-01T00:00:00Z' };
    const publicKey = 'AB'.repeat(32);
    const signature = 'cd'.repeat(64);
    const target = '/api/v1/consensus/vote?x=1';
    const answer = await fetch(`${service.url}${target}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Agent-Public-Key': publicKey,
        'X-Timestamp': 'as-I-like',
      },
      body: JSON.stringify({ ...fields, signature }),
    });
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const header = (name: string) => answer.headers.get(`x-server-${name}`)!;
    const text = [
      ...['agentnet-v2-response', answer.status, 'POST', target, publicKey],
      ...[sha256(voteInput(fields)), signature, 'as-I-like', header('timestamp')],
      sha256(await answer.text()),
    ].join('\n');
    const job = {
      publicKey: keys.publicKey,
      message: Buffer.from(text),
      signature: Buffer.from(header('signature'), 'hex'),
    };
    expect(await service.network.verification.text(job)).toBe(true);
  });

  test('signing does not parse a body that the gate would not parse', async () => {
    const { client, service, register } = await started(transport);
    await register();
    const publicKey = client.publicKey;
    const answer = await fetch(`${service.url}/api/v1/blocks/propose`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Agent-Public-Key': publicKey },
      body: `{"transactions":[${'0,'.repeat(70_000)}0]}`,
    });
    expect(answer.status).toBe(400);
    const header = (name: string) => answer.headers.get(`x-server-${name}`)!;
    const bodySha256 = createHash('sha256')
      .update(await answer.text())
      .digest('hex');
    const asked = { method: 'POST', target: '/api/v1/blocks/propose', publicKey };
    const none = { inputSha256: '-', signature: '-', timestamp: '-' };
    const text = responseInput({
      ...{ status: 400, request: { ...asked, ...none }, timestamp: header('timestamp') },
      bodySha256,
    });
    const job = {
      publicKey: keys.publicKey,
      message: Buffer.from(text),
      signature: Buffer.from(header('signature'), 'hex'),
    };
    expect(await service.network.verification.text(job)).toBe(true);
  });

  test('detects a proxy that swaps two responses', async () => {
    const between = proxy();
    const { client, register } = await started(transport, { fetch: between.fetch });
    await register();
    await client.networkState();
    await client.meta();
    const [, state, meta] = between.answers();
    between.gives(() => state);
    await expect(client.meta()).rejects.toMatchObject(unproven);
    between.gives(() => meta);
    await expect(client.networkState()).rejects.toMatchObject(unproven);
  });

  test('detects a response that belongs to another write of the same kind', async () => {
    const between = proxy();
    const { client, register } = await started(transport, { fetch: between.fetch });
    await register();
    await client.postMeme({ file: 'one' });
    const meme = between.answers().at(-1);
    between.gives(() => meme);
    await expect(client.postMeme({ file: 'two' })).rejects.toMatchObject(unproven);
  });

  test('detects an old response to the same read, and an old refusal of a vote', async () => {
    const between = proxy();
    const { client, register } = await started(transport, { fetch: between.fetch });
    await register();
    await client.networkState();
    const old = between.answers().at(-1);
    between.gives(() => old);
    await expect(client.networkState()).rejects.toMatchObject(unproven);
    between.gives((own) => own);
    const vote = { block_hash: nowhere, decision: 'approve' } as const;
    await expect(client.vote(vote)).rejects.toMatchObject({ reason: 'UNKNOWN_BLOCK' });
    const refused = between.answers().at(-1);
    between.gives(() => refused);
    await expect(client.vote(vote)).rejects.toMatchObject(unproven);
  });

  test('detects a response to the same request with another signature or key', async () => {
    const { client, service } = await started(transport);
    for (const header of ['X-Agent-Signature', 'X-Agent-Public-Key']) {
      const spoil: typeof fetch = (input, init) => {
        const headers = new Headers(init?.headers);
        const text = headers.get(header);
        if (text) headers.set(header, `${text.slice(0, -1)}${text.endsWith('0') ? 1 : 0}`);
        return fetch(input, { ...init, headers });
      };
      const victim = new AgentClient({
        ...{ url: service.url, keys: generateKeys(), serverKey: keys.publicKeyHex, fetch: spoil },
      });
      await expect(victim.setStatus('active')).rejects.toMatchObject(unproven);
    }
    await expect(client.setStatus('active')).rejects.toMatchObject({ reason: 'UNKNOWN_KEY' });
  });

  test('detects a changed status, body or time', async () => {
    const between = proxy();
    const { client } = await started(transport, { fetch: between.fetch });
    const changed = (own: Response, status: number, name = 'X-Nothing', body?: string) => {
      const headers = new Headers(own.headers);
      headers.set(name, new Date(0).toISOString());
      return new Response(body ?? own.body, { status, headers });
    };
    between.gives((own) => changed(own, 203));
    await expect(client.networkState()).rejects.toMatchObject(unproven);
    between.gives((own) => changed(own, 200, 'X-Server-Timestamp'));
    await expect(client.networkState()).rejects.toMatchObject(unproven);
    between.gives((own) => changed(own, 200, 'X-Nothing', '{"success":true,"data":{}}'));
    await expect(client.networkState()).rejects.toMatchObject(unproven);
    between.gives((own) => changed(own, 200));
    await expect(client.networkState()).resolves.toMatchObject({ block_height: 0 });
  });

  test('reports a response that was signed without reading the request body', async () => {
    const { client } = await started(transport);
    const proposal = client.propose({ transactions: Array(900).fill('x'.repeat(4_000)) });
    await expect(proposal).rejects.toMatchObject({ problem: 'RESPONSE_UNREAD' });
  });
});

test('response signature: is absent by default', async () => {
  const service = await serve({ limits: 'off' });
  onTestFinished(() => service.close());
  const { headers } = await fetch(`${service.url}/api/v1/network/state`);
  expect(headers.get('x-server-signature')).toBe(null);
});
