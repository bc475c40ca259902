/** Control of a live network: authorization, commands and refusals. */
import { createVerifier, Network } from 'folkmoot';
import { startServer } from 'folkmoot/api';
import { LiveControl } from '../../../dist/cli/commands/serve/control.js';
import { oneTransport, world } from '../../support/service/server.js';
import { agentOf, register } from '../../support/service/signer.js';
import { type Answer, expectError, expectSuccess, World } from '../../support/service/world.js';

const path = '/api/v1/control';
const verifier = createVerifier('pool');
afterAll(() => verifier.close());

const tokenIn = (page: string) => new URL(page).hash.replace('#token=', '');
const held = expect.objectContaining({ holds: 'network', paused: true });

describe.each(oneTransport)('control over %s', (transport) => {
  async function controlled() {
    const genesis = { network_id: 'testnet', voting_period_ms: 60_000 };
    const network = await Network.open({ memory: true, genesis, verifier });
    const control = new LiveControl({ network: network as never, holdsNetwork: true, speed: null });
    const options = { network, port: 0, transport, control, version: '0.0.0-test' } as const;
    const server = await startServer({ ...options, limits: 'bench' });
    onTestFinished(async () => {
      await server.close();
      await network.close();
    });
    const there = new World({
      url: server.url,
      wsUrl: `${server.url.replace('http', 'ws')}/ws/v1`,
    });
    const token = tokenIn(server.page!);
    const ask = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      there.send({
        method: 'POST',
        path,
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const clock = async () => (await there.read(path)).clock as Record<string, unknown>;
    const until = async (paused: boolean) => {
      const changed = new Promise<void>((resolve) => control.onChange(resolve));
      if ((await clock()).paused !== paused) await changed;
      return clock();
    };
    return { network, control, there, token, ask, clock, until };
  }

  test('shows the clock of a world without control, and refuses commands', async () => {
    const there = await world({ transport });
    expect(await there.read(path)).toEqual({
      kind: 'live',
      can: [],
      clock: { holds: 'nothing', paused: false, speed: 1, until: null, at: expect.any(String) },
      knows: [],
    });
    const answer = await there.send({ method: 'POST', path, headers: {}, body: '{"do":"pause"}' });
    expectError(answer, 401, 'INVALID_REQUEST', 'BAD_TOKEN');
  });

  test('pause: answers writes with 503 PAUSED until resume, and serves reads', async () => {
    const { there, ask, network } = await controlled();
    expect(expectSuccess(await ask({ do: 'pause' }), 200)).toMatchObject({
      kind: 'live',
      clock: held,
    });
    const refused = await there.send(register(agentOf('Ada'), { name: 'Ada' }));
    expectError(refused, 503, 'NETWORK_ERROR', 'PAUSED');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await there.get('/api/v1/network/state')).status).toBe(200);
    expect((await there.read('/api/v1/meta')).seq).toBe(0);
    expectSuccess(await ask({ do: 'resume' }), 200);
    await there.join('Ada');
    expect(network.time.held).toBe(false);
  });

  test('step: runs until a commit; until: runs to a block, an outcome or a time', async () => {
    const { there, ask, until, clock } = await controlled();
    const [ada, bob, eve] = await there.joinAll('Ada', 'Bob', 'Eve');
    await ask({ do: 'pause' });
    await ask({ do: 'step' });
    const mia = await there.join('Mia');
    expect(await until(true)).toMatchObject({ paused: true, until: null });

    const block = { what: 'block' } as const;
    expectSuccess(await ask({ do: 'until', until: block }), 200);
    expect(await clock()).toMatchObject({ paused: false, until: block });
    await there.join('Tom');
    const hash = await there.propose(ada!);
    expect(await until(true)).toMatchObject({ paused: true });

    await ask({ do: 'until', until: { what: 'outcome', status: 'finalized' } });
    for (const by of [ada, bob, eve, mia]) await there.vote(by!, hash, { decision: 'approve' });
    expect(await until(true)).toMatchObject({ paused: true });
    await ask({ do: 'until', until: { what: 'time', ms: 20 } });
    expect(await until(true)).toMatchObject({ paused: true });
  });

  test.each([
    ['no token', {}, 401],
    ['an empty token', { Authorization: 'Bearer ' }, 401],
    ['a wrong token', { Authorization: `Bearer ${'A'.repeat(32)}` }, 401],
    ['a wrong scheme', { Authorization: 'Basic QTpC' }, 401],
  ])('%s: refuses the command and changes nothing', async (_, headers: Record<
    string,
    string
  >, status) => {
    const { ask, clock } = await controlled();
    const answer = await ask({ do: 'pause' }, { Authorization: '', ...headers });
    expectError(answer, status, 'INVALID_REQUEST', 'BAD_TOKEN');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="folkmoot"');
    expect(await clock()).toMatchObject({ paused: false });
  });

  test.each([
    ['', 400, 'BAD_JSON'],
    ['{', 400, 'BAD_JSON'],
    ['null', 400, 'SCHEMA'],
    ['[]', 400, 'SCHEMA'],
    ['{"do":"constructor"}', 400, 'SCHEMA'],
    ['{"do":["pause"]}', 400, 'SCHEMA'],
    ['{"do":"until"}', 400, 'SCHEMA'],
    ['{"do":"until","until":{"what":"never"}}', 400, 'SCHEMA'],
    ['{"do":"until","until":{"what":"time"}}', 400, 'SCHEMA'],
    ['{"do":"until","until":{"what":"time","ms":1e12}}', 400, 'SCHEMA'],
    ['{"do":"until","until":{"what":"block","ms":1}}', 400, 'SCHEMA'],
    ['{"do":"speed","speed":2}', 409, 'NO_CONTROL'],
    [`{"do":"pause","x":"${'x'.repeat(20_000)}"}`, 413, 'TOO_LARGE'],
  ])('refuses an invalid command: %s', async (body, status, reason) => {
    const { ask, clock } = await controlled();
    expectError(await ask(body), status, 'INVALID_REQUEST', reason);
    expect(await clock()).toMatchObject({ paused: false });
  });
});
