/** The server for a load run's page: state, long polling and control. */
import { WebSocket } from 'ws';
import type { LoadAnswer, LoadState } from '../../../dist/api/contract/load.js';
import {
  Board,
  loadControl,
  type RunStage,
  startLoadServer,
} from '../../../dist/api/load-server.js';
import { toLoadState } from '../../../dist/bench/load/model.js';
import { loadResult } from '../../bench/load/fixture.js';
import { live } from '../../client/helpers.js';
import { checkResponse } from '../../support/service/openapi-check.js';
import { raw, statusOf } from '../../support/service/raw.js';
import { oneTransport } from '../../support/service/server.js';

const path = '/api/v1/load';
const over = toLoadState(loadResult());
const going = (seconds: number): LoadState => ({
  ...over,
  ...{ phase: 'measured', passed_ms: 1_000 * seconds, of_ms: 10_000, verdict: null },
});

interface Answered {
  status: number;
  headers: Headers;
  body: string;
}

const reasonOf = ({ body }: Answered) => JSON.parse(body).error.details.reason;

describe.each(oneTransport)('load over %s', (transport) => {
  async function shown() {
    const state = {
      ...{ standing: 'waiting' as RunStage, asked: [] as string[], watched: [] as boolean[] },
    };
    const board = new Board(going(0), (watched) => state.watched.push(watched));
    const control = loadControl(
      () => state.standing,
      (what) => {
        state.asked.push(what);
        state.standing = 'going';
      },
    );
    const server = await startLoadServer({ board, control, host: '127.0.0.1', port: 0, transport });
    onTestFinished(() => server.close());
    const { url, page } = server;
    /** Sends a request, and validates the response against the documents. */
    const send = async (target: string, init: RequestInit = {}): Promise<Answered> => {
      const { status, headers, ...rest } = await answered(await fetch(url + target, init));
      const contentType = headers.get('content-type');
      const about = { method: init.method ?? 'GET', target, status, contentType };
      expect(checkResponse({ ...about, body: rest.body })).toEqual([]);
      return { status, headers, body: rest.body };
    };
    const read = async (query = ''): Promise<LoadAnswer> => {
      const { status, body } = await send(path + query);
      expect(status, body).toBe(200);
      return JSON.parse(body).data;
    };
    const token = new URL(page).hash.replace('#token=', '');
    const ask = (body: string, headers: Record<string, string> = {}) => {
      const all = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
      return send('/api/v1/control', { method: 'POST', headers: { ...all, ...headers }, body });
    };
    return { state, board, server, send, read, ask, url, page };
  }

  const answered = async (response: Response): Promise<Answered> => ({
    ...{ status: response.status, headers: response.headers, body: await response.text() },
  });

  test('state: returns what was posted, with an increasing version', async () => {
    const { board, read } = await shown();
    expect(await read()).toEqual({ version: 1, load: JSON.parse(JSON.stringify(going(0))) });
    board.post(going(1));
    board.post(over, true);
    const { version, load } = await read();
    expect([version, load.phase, load.verdict?.verdict]).toEqual([3, 'over', 'VALID']);
  });

  test('after: waits for a new version; other readers are answered at once', async () => {
    const { board, read } = await shown();
    const { version } = await read();
    let over = 0;
    const next = [1, 2, 3].map(async () => {
      const answer = await read(`?after=${version}`);
      over += 1;
      return answer.version;
    });
    // Reads without `after` do not wait behind other reads.
    for (let turn = 0; turn < 5; turn += 1) expect((await read()).version).toBe(version);
    expect(over).toBe(0);
    board.post(going(1));
    expect(await Promise.all(next)).toEqual([2, 2, 2]);
    // Versions from an earlier run at the same address.
    for (const other of [0, 1, 99]) expect((await read(`?after=${other}`)).version).toBe(2);
  });

  test('after: refuses an invalid version', async () => {
    const { send } = await shown();
    for (const wrong of ['x', '-1', '1.5', '', '9'.repeat(40)]) {
      const answer = await send(`${path}?after=${wrong}`);
      expect([wrong, answer.status, reasonOf(answer)]).toEqual([wrong, 400, 'SCHEMA']);
    }
  });

  test('after: bounds the waiting readers, without those that disconnected', async () => {
    const { url, board } = await shown();
    /** Returns the status, or that the request is still waiting. */
    const waits = async () => {
      const signal = AbortSignal.timeout(400);
      const answer = await fetch(`${url}${path}?after=1`, { signal }).catch(() => null);
      return answer === null ? 'waits' : `${answer.status} ${reasonOf(await answered(answer))}`;
    };
    const away = new AbortController();
    const all = Array.from({ length: 64 }, () =>
      fetch(`${url}${path}?after=1`, { signal: away.signal }).catch(() => null),
    );
    await expect.poll(waits).toBe('503 QUEUE_FULL');
    away.abort();
    await Promise.all(all);
    await expect.poll(waits).toBe('waits');
    board.post(going(1));
    expect((await fetch(`${url}${path}?after=1`)).status).toBe(200);
  });

  test('watched: is reported at the first read', async () => {
    const { state, board, read, send } = await shown();
    board.post(going(1));
    await send('/ui/load');
    expect(state.watched).toEqual([]);
    await read();
    await read();
    expect(state.watched).toEqual([true]);
  });

  test('control: starts and ends the run with the token', async () => {
    const { state, ask, send } = await shown();
    const control = async () => JSON.parse((await send('/api/v1/control')).body).data;
    expect(await control()).toMatchObject({
      ...{ kind: 'load', can: ['resume', 'stop'] },
      clock: { holds: 'run', paused: true },
    });
    const refused: [string, Record<string, string>, number, string][] = [
      ['{"do":"stop"}', { Authorization: '' }, 401, 'BAD_TOKEN'],
      ['{"do":"stop"}', { Authorization: 'Bearer no' }, 401, 'BAD_TOKEN'],
      ['{"do":"stop"}', { Origin: 'https://elsewhere.example' }, 403, 'WRONG_ORIGIN'],
      ['{"do":"pause"}', {}, 409, 'NO_CONTROL'],
      ['{"do":"dance"}', {}, 400, 'SCHEMA'],
      ['{', {}, 400, 'BAD_JSON'],
    ];
    for (const [body, headers, status, reason] of refused) {
      const answer = await ask(body, headers);
      expect([body, answer.status, reasonOf(answer)]).toEqual([body, status, reason]);
    }
    expect(state.asked).toEqual([]);
    expect(JSON.parse((await ask('{"do":"resume"}')).body).data).toMatchObject({
      ...{ can: ['stop'], clock: { holds: 'nothing', paused: false } },
    });
    expect([(await ask('{"do":"stop"}')).status, state.asked]).toEqual([200, ['resume', 'stop']]);
    state.standing = 'over';
    expect(reasonOf(await ask('{"do":"stop"}'))).toBe('NO_CONTROL');
  });

  test('page: is served at each of its paths, at the right view', async () => {
    const { send, page, url } = await shown();
    expect(page).toMatch(new RegExp(`^${url}/ui/load#token=\\S{32}$`));
    const first = await send('/ui/load?at=3');
    expect(first.body).toContain('<html data-shows="load"');
    expect(first.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const target of ['/ui', '/ui/', '/ui/now', '/ui/block/abc']) {
      expect([target, (await send(target)).body === first.body]).toEqual([target, true]);
    }
    const assets = [...first.body.matchAll(/\/ui\/assets\/[\w.-]+/g)].map(([asset]) => asset);
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) expect([asset, (await send(asset)).status]).toEqual([asset, 200]);
    const home = await fetch(`${url}/`, { redirect: 'manual' });
    expect([home.status, home.headers.get('location')]).toEqual([302, '/ui/load']);
    for (const target of ['/docs', '/openapi.json', '/healthz']) {
      expect([target, (await send(target)).status]).toEqual([target, 200]);
    }
  });

  test('refuses all other requests like the server of a network', async () => {
    const { send, url } = await shown();
    for (const target of ['/api/v1/network/state', '/ui/assets/..%2Ffiles.json', '/metrics']) {
      const answer = await fetch(url + target).then(answered);
      expect([target, answer.status, reasonOf(answer)]).toEqual([target, 404, 'UNKNOWN_ROUTE']);
    }
    const posted = await send('/ui/', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const head = await fetch(url + path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(url + path, { method: 'OPTIONS' })).status).toBe(204);
    const large = await fetch(`${url}/api/v1/control`, {
      ...{ method: 'POST', body: 'x'.repeat(20_000) },
    }).then(answered);
    expect([large.status, reasonOf(large)]).toEqual([413, 'TOO_LARGE']);
    const rebound = await raw(url, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    expect(statusOf(rebound)).toBe(421);
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/v1`);
    const refused = new Promise((resolve) => socket.on('error', ({ message }) => resolve(message)));
    expect(await refused).toContain('404');
  });

  test('close: answers waiting readers and does not hang', async () => {
    const { board, server, read } = await shown();
    const waiting = [1, 2].map(() => read('?after=1'));
    await read();
    board.post(over, true);
    await board.seen();
    const kept = read('?after=2');
    await read();
    await server.close();
    for (const { load } of await Promise.all([...waiting, kept])) expect(load.phase).toBe('over');
  });
});

test("load: is refused by a network's server, with a hint", async () => {
  const { url } = await live();
  const response = await fetch(url + path);
  const { error } = (await response.json()) as { error: { message: string } };
  expect([response.status, error.message]).toEqual([
    404,
    expect.stringContaining('folkmoot load --watch'),
  ]);
});
