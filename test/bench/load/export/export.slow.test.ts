/** Requests for other load tools: a server accepts each of them once, in every form. */
import { runCommand } from '../../../support/command.js';
import { world } from '../../../support/service/server.js';

interface Request {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

type Pairs = { name: string; value: string }[];
type Har = { log: { entries: { request: Omit<Request, 'headers'> & { headers: Pairs } }[] } };
interface Target {
  method: string;
  url: string;
  header: Record<string, string[]>;
  body?: string;
}

/** Decodes a text in Lua. */
const unescaped = (text: string) =>
  text.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number(code)));

const readers: Record<string, (text: string, url: string) => Request[]> = {
  har: (text) =>
    (JSON.parse(text) as Har).log.entries.map(({ request }) => ({
      ...request,
      headers: Object.fromEntries(request.headers.map(({ name, value }) => [name, value])),
      body: (request as { postData?: { text: string } }).postData?.text ?? '',
    })),
  vegeta: (text) =>
    text.split('\n').map((line) => {
      const { method, url, header, body = '' } = JSON.parse(line) as Target;
      const headers = Object.entries(header).map(([name, values]) => [name, values.join()]);
      const content = Buffer.from(body, 'base64').toString();
      return { method, url, headers: Object.fromEntries(headers), body: content };
    }),
  k6: (text) => JSON.parse(/^const requests = (.*);$/m.exec(text)![1]!) as Request[],
  wrk: (text, origin) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('  {'))
      .map((line) => {
        const [, method, path, head = '', body = ''] =
          /^ {2}\{"(\w+)", "([^"]*)", \{(.*)\}, "([^"]*)"\},$/.exec(line)!;
        const pairs = [...head.matchAll(/\["([^"]+)"\]="([^"]*)"/g)];
        return {
          ...{ method: method!, url: origin + path, body: unescaped(body) },
          headers: Object.fromEntries(pairs.map(([, name, value]) => [name, unescaped(value!)])),
        };
      }),
};

test.each(Object.keys(readers))('export: a server accepts every request for %s', async (format) => {
  const { url } = await world({ limits: 'off' });
  const mix = ['--mix', 'read=2,status=1,meme=1', '--count', '40', '--agents', '8'];
  const args = ['load', 'export', '--format', format, '--url', url];
  const { code, stdout } = await runCommand([...args, ...mix]);
  expect(code).toBe(0);
  const requests = readers[format]!(stdout.trimEnd(), url);
  expect(requests).toHaveLength(40);
  for (const { method, url: target, headers, body } of requests) {
    const init = { method, headers, ...(body === '' ? {} : { body }) };
    const answer = (await (await fetch(target, init)).json()) as { success: boolean; data: object };
    expect([answer.success, 'duplicate' in answer.data], target).toEqual([true, false]);
  }
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET', 'PUT', 'POST']));
});

test('export: refuses requests that depend on responses', async () => {
  const { url } = await world({ limits: 'off' });
  const args = ['load', 'export', '--format', 'k6', '--url', url];
  expect((await runCommand([...args, '--mix', 'vote=1'])).code).toBe(1);
  expect((await runCommand([...args, '--mix', 'votes=1'])).code).toBe(2);
});
