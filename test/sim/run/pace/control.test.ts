/** Random pauses, steps and speeds, with subscribers, do not change the log of a run. */
import { type ControlView, type Server, startServer } from 'folkmoot/api';
import { completeScenario, type SimResult, simulate } from 'folkmoot/sim';
import { Pace } from '../../../../dist/sim/run/pace.js';
import { drawnFrom, seed } from '../../../support/seeded.js';
import { oneTransport } from '../../../support/service/server.js';
import { Watching } from '../../../support/service/watching.js';

const MOVES = 24;
const agents = [{ group: 'town', count: 12, producers: 3 }];
const scenario = completeScenario({ title: 'Watched', agents, length: { blocks: 10 } });
const options = { verifier: 'inline', store: 'memory', seed: '7' } as const;
const digests = ({ digest, log_digest, entries, events }: SimResult) => {
  return { digest, log_digest, entries, events };
};
const alone = digests(await simulate(scenario, options));

/** A run behind a server, paused at its beginning. */
async function served(transport: 'uws' | 'node') {
  const pace = new Pace({ paused: true });
  let begun: (server: Server) => void;
  const server = new Promise<Server>((resolve) => {
    begun = resolve;
  });
  const ended = simulate(scenario, options, {
    async onNetwork(network) {
      pace.begin(network);
      const shared = { version: '0.0.0-test', limits: 'off' as const, transport };
      const opened = await startServer({ network, port: 0, control: pace, ...shared });
      begun(opened);
      return async () => {
        pace.end();
        await opened.close();
      };
    },
    pace: pace.pace,
    onOver: pace.over,
  });
  const { url, page } = await server;
  return { ended, url, token: new URL(page!).hash.slice('#token='.length) };
}

const ask = async (url: string, token: string, command: object) => {
  const response = await fetch(`${url}/api/v1/control`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(command),
  });
  return { status: response.status, ...((await response.json()) as { data: ControlView }) };
};

test.each(oneTransport)('pace over %s: random commands keep the log', async (transport) => {
  const { url, token, ended } = await served(transport);
  const wsUrl = `${url.replace('http', 'ws')}/ws/v1`;
  const watchers = await Promise.all([1, 2, 3].map(() => Watching.begin(wsUrl)));
  const draw = drawnFrom(seed);
  const outcomes = ['finalized', 'rejected', 'expired'];
  const moves = [
    () => ({ do: 'pause' }),
    () => ({ do: 'step' }),
    () => ({ do: 'step' }),
    () => ({ do: 'speed', speed: [null, 20, 200, 5_000][draw(4)] }),
    () => ({ do: 'until', until: { what: 'block' } }),
    () => ({ do: 'until', until: { what: 'outcome', status: outcomes[draw(3)] } }),
    () => ({ do: 'until', until: { what: 'time', ms: 1 + draw(5_000) } }),
  ];
  const asked: object[] = [];
  for (let move = 0; move < MOVES; move += 1) {
    const command = moves[draw(moves.length)]!();
    asked.push(command);
    const { status, data } = await ask(url, token, command);
    expect(status, JSON.stringify({ seed, asked })).toBe(200);
    expect(data).toMatchObject({ kind: 'sim', clock: { holds: 'run' } });
    const { data: state } = (await (await fetch(`${url}/api/v1/network/state`)).json()) as {
      data: { block_height: number };
    };
    expect(state.block_height).toBeLessThanOrEqual(10);
  }
  expect((await ask(url, token, { do: 'speed', speed: null })).status).toBe(200);
  // Subscribers see it while paused.
  for (const one of watchers) await one.until(({ spans }) => spans.length > 0);
  expect((await ask(url, token, { do: 'resume' })).status).toBe(200);
  expect(digests(await ended), `seed ${seed}: ${JSON.stringify(asked)}`).toEqual(alone);
  // The end of the run ends the server, even with subscribers.
  for (const { closed } of watchers) expect((await closed).code).toBe(1001);
});

test('pace: refuses commands without the token', async () => {
  const { url, token, ended } = await served('node');
  for (const wrong of ['', 'another', `${token}x`]) {
    expect((await ask(url, wrong, { do: 'resume' })).status).toBe(401);
  }
  const foreign = await fetch(`${url}/api/v1/control`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, Origin: 'http://evil.example' },
    body: '{"do":"resume"}',
  });
  expect(foreign.status).toBe(403);
  const shown = (await (await fetch(`${url}/api/v1/control`)).json()) as { data: ControlView };
  expect(shown.data.clock.paused).toBe(true);
  expect((await ask(url, token, { do: 'resume' })).status).toBe(200);
  expect(digests(await ended)).toEqual(alone);
});
