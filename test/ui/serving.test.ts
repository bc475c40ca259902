/** Tests how both transports serve the page's files and the documents. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { live } from '../client/helpers.js';

const transports = ['uws', 'node'] as const;

/** Sends no `Accept-Encoding` and decodes nothing, unlike fetch. */
async function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await request(url, { headers, method: method as 'GET' });
  const body = Buffer.from(await answer.body.arrayBuffer());
  return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body };
}

const assetsOf = (html: Buffer) =>
  [...html.toString().matchAll(/\/ui\/assets\/[\w.-]+/g)].map(([path]) => path);

test.each(transports)('page: redirects browsers, and answers in JSON (%s)', async (transport) => {
  const { url } = await live({ transport });
  const browser = await get(`${url}/`, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
  expect([browser.status, browser.headers.location]).toEqual([302, '/ui/']);
  const program = await get(`${url}/`, { accept: 'application/json' });
  expect(program.status).toBe(200);
  expect(JSON.parse(program.body.toString()).data).toMatchObject({ page: '/ui/', docs: '/docs' });
  const curl = await get(`${url}/`, { accept: '*/*' });
  expect([curl.status, curl.headers.location]).toEqual([302, '/docs']);
  expect(browser.headers.vary).toBe('Accept');
});

test.each(transports)('page: serves the same HTML at each path (%s)', async (transport) => {
  const { url } = await live({ transport });
  const page = await get(`${url}/ui/`);
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  for (const path of ['/ui', '/ui/agents', '/ui/block/abc?at=3', '/ui/%22%3Cb%3E']) {
    const there = await get(url + path);
    expect([path, there.status, there.body.equals(page.body)]).toEqual([path, 200, true]);
  }
  const policy = page.headers['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain('unsafe');
  expect(page.body.toString()).not.toMatch(/<script(?![^>]* src=)|style=|https?:/);
});

test.each(transports)('page: negotiates the encoding and answers 304 (%s)', async (transport) => {
  const { url } = await live({ transport });
  const page = await get(`${url}/ui/`);
  const paths = ['/ui/', '/docs', '/docs/rapidoc-min.js', '/openapi.json', ...assetsOf(page.body)];
  expect(paths.length).toBeGreaterThan(5);
  for (const path of paths) {
    const plain = await get(url + path);
    const br = await get(url + path, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(url + path, { 'accept-encoding': 'br;q=0, gzip' });
    const none = await get(url + path, { 'accept-encoding': 'br;q=0, gzip;q=0.0, zstd' });
    expect(
      [path, plain, br, gzip, none].slice(1).map((one) => (one as typeof plain).status),
    ).toEqual([200, 200, 200, 200]);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(br.headers['content-encoding']).toBe('br');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(none.body.equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    const tags = [plain, br, gzip].map(({ headers }) => headers.etag);
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) expect(tag).toMatch(/^"[\w-]+"$/);
    for (const { headers } of [plain, br, gzip]) expect(headers.vary).toContain('Accept-Encoding');
    const lasting = path.startsWith('/ui/assets/');
    expect(plain.headers['cache-control']).toBe(
      lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    );

    for (const known of [`W/${tags[1]}`, `"other", ${tags[1]}`, '*']) {
      const asked = { 'accept-encoding': 'br', 'if-none-match': known };
      const again = await get(url + path, asked);
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tags[1]]);
    }
    const other = await get(url + path, { 'accept-encoding': 'br', 'if-none-match': tags[0]! });
    expect(other.status).toBe(200);
    const head = await get(url + path, { 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(br.body.length));
  }
});

test.each(transports)('page: answers 404 for unknown files (%s)', async (transport) => {
  const { url } = await live({ transport });
  const names = ['none.js', '..%2Ffiles.json', 'files.json', '..%2f..%2fpackage.json', '__proto__'];
  for (const name of names) {
    const answer = await get(`${url}/ui/assets/${name}`);
    expect([name, answer.status]).toEqual([name, 404]);
    expect(JSON.parse(answer.body.toString()).error.details.reason).toBe('UNKNOWN_ROUTE');
  }
  const posted = await request(`${url}/ui/`, { method: 'POST' });
  await posted.body.dump();
  expect([posted.statusCode, posted.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test('page: `ui: false` serves no page and redirects `/` to the documents', async () => {
  const { url } = await live({ ui: false });
  for (const path of ['/ui/', '/ui', '/ui/agents'])
    expect((await get(url + path)).status).toBe(404);
  const home = await get(`${url}/`, { accept: 'text/html' });
  expect([home.status, home.headers.location]).toEqual([302, '/docs']);
  expect(JSON.parse(home.body.toString()).data.page).toBeUndefined();
});

test('page: is not rate limited', async () => {
  const { url } = await live({ limits: 'spec', figures: { read: 2 } });
  const reads = await Promise.all([1, 2, 3, 4].map(() => get(`${url}/api/v1/network/state`)));
  expect(reads.map(({ status }) => status)).toContain(429);
  for (const path of ['/ui/', '/docs', '/openapi.json']) {
    expect((await get(url + path)).status).toBe(200);
  }
});

const KB = 1_024;
const gzipped = { 'accept-encoding': 'gzip' };

/** Returns the sizes of all assets that a text refers to, directly or through other assets. */
async function allOf(url: string, text: Buffer, found = new Map<string, number>()) {
  for (const [name] of text.toString().matchAll(/\b[\w-]+-[A-Z0-9]{8}\.(?:js|css)\b/g)) {
    if (found.has(name)) continue;
    const { status, body } = await get(`${url}/ui/assets/${name}`, gzipped);
    expect([name, status]).toEqual([name, 200]);
    found.set(name, body.length);
    await allOf(url, gunzipSync(body), found);
  }
  return found;
}

/**
 * Returns the assets that load together with a text. Includes static imports, but not dynamic
 * imports.
 */
async function atOnce(url: string, text: Buffer, found = new Set<string>()) {
  const asked = /(?:\bfrom|\bimport)\s*"\.\/([\w-]+\.js)"|\/ui\/assets\/([\w.-]+)/g;
  for (const [, imported, linked] of text.toString().matchAll(asked)) {
    const name = (imported ?? linked)!;
    if (found.has(name)) continue;
    found.add(name);
    await atOnce(url, (await get(`${url}/ui/assets/${name}`)).body, found);
  }
  return found;
}

test('page: stays within its size budgets', async () => {
  const { url } = await live();
  const { body } = await get(`${url}/ui/`);
  const all = await allOf(url, body);
  const sum = (wanted: (name: string) => boolean) =>
    [...all].reduce((bytes, [name, size]) => bytes + (wanted(name) ? size : 0), 0);
  const first = await atOnce(url, body);
  const worker = (name: string) => name.includes('-worker-');
  // Opening one view loads the page, the player and the view.
  const begins = (name: string) => first.has(name) || name.startsWith('player-worker-');
  expect([...first].filter((name) => !all.has(name))).toEqual([]);
  expect(sum(begins)).toBeGreaterThan(20 * KB);
  expect(sum(begins)).toBeLessThan(80 * KB);
  const verifies = (name: string) => worker(name) && !name.startsWith('player-worker-');
  // The graph's library is loaded with its view, and the form for new runs where one can start.
  const draws = (name: string) => name.startsWith('network-');
  const asks = (name: string) => name.startsWith('experiment-');
  const always = (name: string) => !verifies(name) && !draws(name) && !asks(name);
  expect(sum(always)).toBeLessThan(120 * KB);
  expect(sum(asks)).toBeGreaterThan(2 * KB);
  expect(sum(asks)).toBeLessThan(8 * KB);
  expect(sum(draws)).toBeGreaterThan(2 * KB);
  expect(sum(draws)).toBeLessThan(12 * KB);
  expect(sum(verifies)).toBeGreaterThan(50 * KB);
  expect(sum(verifies)).toBeLessThan(150 * KB);
  for (const title of ['now', 'page', 'chunk', 'player', 'verify']) {
    expect([title, [...all.keys()].some((name) => name.startsWith(title))]).toEqual([title, true]);
  }
});
