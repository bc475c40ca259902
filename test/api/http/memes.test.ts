/** Meme uploads: file types, serving, malformed forms. */
import { testsWith } from '../../support/fixture.js';
import { oneTransport, world } from '../../support/service/server.js';
import { formOf, meme, type Request } from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

/** Minimal files for each type, recognized by their first bytes. */
const PNG = bytes(
  `89504e470d0a1a0a 0000000d49484452 00000001000000010806000000 1f15c489
  0000000d49444154 78da63fccfc0500f0004850180 84a98c21 0000000049454e44ae426082`.replaceAll(
    '\n',
    '',
  ),
);
const JPEG = bytes('ffd8ffe000104a46494600010100000100010000ffd9');
const WEBP = bytes('524946461a000000574542505650384c0d0000002f0000001007100111118888fe0700');
const GIF = Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;', 'latin1');
const LIMIT = 1024 * 1024;

describe.each(oneTransport)('memes over %s', (transport) => {
  const begin = async () => {
    const there = await world({ transport });
    onTestFinished(async () => expect((await there.get('/healthz')).status).toBe(200));
    return { there, ada: await there.join('Ada') };
  };
  const check = testsWith(() => begin());

  test.each<[string, string | Uint8Array, string, string]>([
    ['PNG', PNG, 'image', 'image/png'],
    ['JPEG', JPEG, 'image', 'image/jpeg'],
    ['WebP', WEBP, 'image', 'image/webp'],
    ['GIF', GIF, 'gif', 'image/gif'],
    ['text', 'Grüße\t\r\n<b>', 'text', 'text/plain; charset=utf-8'],
    ['1 MiB of text', 'x'.repeat(LIMIT), 'text', 'text/plain; charset=utf-8'],
  ])('%s: accepts the file and serves it unchanged', async (_, file, type, mediaType) => {
    const { there, ada } = await begin();
    const data = await there.do(meme(ada, { file }));
    expect(data.content).toMatchObject({ type });
    const url = `${there.url}/api/v1/social/memes/${data.meme_id}/content`;
    const served = await fetch(url);
    expect(Buffer.from(await served.arrayBuffer()).equals(Buffer.from(file as Uint8Array))).toBe(
      true,
    );
    const headers = {
      'content-type': mediaType,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    };
    for (const [name, value] of Object.entries(headers)) {
      expect(served.headers.get(name)).toBe(value);
    }
    expect(served.headers.get('cache-control')).toContain('immutable');
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(`${Buffer.byteLength(file)}`);
  });

  test.each<[string, string | Uint8Array]>([
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['HTML after a byte order mark', '\ufeff<html>'],
    ['an empty file', ''],
  ])('%s: answers 415 and changes nothing', async (_, file) => {
    const { there, ada } = await begin();
    const before = await there.digest();
    expectError(await there.send(meme(ada, { file })), 415, 'INVALID_REQUEST', 'MEDIA_TYPE');
    expect(await there.digest()).toBe(before);
  });

  check('a file over 1 MiB: answers 413', async ({ there, ada }) => {
    for (const size of [LIMIT + 1, LIMIT + 100_000]) {
      const answer = await there.send(meme(ada, { file: 'x'.repeat(size) }));
      expectError(answer, 413, 'INVALID_REQUEST', 'TOO_LARGE');
    }
  });

  /** Applies a change to a valid form's text. */
  const changed = (request: Request, change: (text: string) => string): Request => ({
    ...request,
    body: Buffer.from(change(Buffer.from(request.body as Uint8Array).toString('latin1')), 'latin1'),
  });

  check('a truncated form: answers 400, and the server still answers', async ({ there, ada }) => {
    const whole = meme(ada, { file: 'Hello', caption: 'A', tags: ['b'] });
    const { length } = whole.body;
    for (let most = 0; most < length - 4; most += 7) {
      const answer = await there.send(changed(whole, (text) => text.slice(0, most)));
      expectError(answer, 400, 'INVALID_REQUEST');
    }
  });

  test.each<[string, (text: string) => string, number]>([
    ['no file', (text) => text.replace('name="meme_file"', 'name="other"'), 400],
    ['a file as a field', (text) => text.replace(/; filename="meme"\r\nContent-Type: .*/, ''), 400],
    ['no signature', (text) => text.replace('name="signature"', 'name="other"'), 401],
    ['tags that are not strings', (text) => text.replace(/\r\nb\r\n/, '\r\n[1]\r\n'), 400],
    ['tags that are not JSON', (text) => text.replace(/\r\nb\r\n/, '\r\n["b"\r\n'), 400],
    ['another boundary', (text) => text.replaceAll('a-boundary', 'b-boundary'), 400],
    ['a field named __proto__', (text) => text.replace('name="caption"', 'name="__proto__"'), 401],
    ['a part without a name', (text) => text.replace('name="caption"', 'title="caption"'), 401],
    ['an invalid part header', (text) => text.replace('Content-Disposition', '\u0000\u0001'), 401],
  ])('a form with %s: refuses the request', async (_, change, status) => {
    const { there, ada } = await begin();
    const before = await there.digest();
    const request = meme(ada, { file: 'Hello', caption: 'A', tags: ['b'] });
    const answer = await there.send(changed(request, change));
    const code = status === 401 ? 'INVALID_SIGNATURE' : 'INVALID_REQUEST';
    expectError(answer, status, code);
    expect(await there.digest()).toBe(before);
  });

  const part = (name: string, value: string, more = '') => {
    const disposition = `Content-Disposition: form-data; name="${name}"${more}`;
    return `--a-boundary-of-forms\r\n${disposition}\r\n\r\n${value}\r\n`;
  };
  const otherFile = part('picture', 'x', '; filename="x"');

  test.each<[string, (text: string) => string, string, string[]]>([
    ['two captions', (text) => part('caption', 'B') + text, '/caption', ['caption']],
    ['two signatures', (text) => part('signature', 'ab') + text, '/signature', ['signature']],
    ['2 files', (text) => part('meme_file', 'x', '; filename="x"') + text, '/meme_file', ['twice']],
    [
      'a file without a file name',
      (text) => text.replace(/; filename="meme"\r\nContent-Type: .*/, ''),
      '/meme_file',
      ['file name'],
    ],
    [
      'only a file of another name',
      (text) => otherFile + text.replace('name="meme_file"', 'name="upload"'),
      '/meme_file',
      ['"picture"', '"upload"', '"caption"', '"tags"'],
    ],
  ])('a form with %s: names the part', async (_, change, pointer, words) => {
    const { there, ada } = await begin();
    const request = meme(ada, { file: 'Hello', caption: 'A', tags: ['b'] });
    const answer = await there.send(changed(request, change));
    expectError(answer, 400, 'INVALID_REQUEST', 'SCHEMA');
    expect(answer.error.details.pointer).toBe(pointer);
    for (const word of words) expect(answer.error.message).toContain(word);
  });

  check('a form with other files: ignores and lists them, in any place', async ({ there, ada }) => {
    const request = meme(ada, { file: 'Hello', caption: 'A', tags: ['b'] });
    const after = (text: string) =>
      text.replace(
        '--a-boundary-of-forms--',
        `${part('second', 'y', '; filename="y"')}--a-boundary-of-forms--`,
      );
    const answer = await there.send(changed(request, (text) => otherFile + after(text)));
    expect([answer.status, answer.headers.get('folkmoot-unknown')]).toEqual([
      201,
      '/picture, /second',
    ]);
  });

  test('a form without a boundary, or with too many fields: answers 400', async () => {
    const { there, ada } = await begin();
    const good = meme(ada, { file: 'Hello' });
    const headers = { ...good.headers, 'Content-Type': 'multipart/form-data' };
    expectError(await there.send({ ...good, headers }), 400, 'INVALID_REQUEST', 'SCHEMA');
    const fields = Array.from({ length: 200 }, (): [string, string] => ['tags', 'b']);
    const many = { ...good, body: formOf(fields, 'Hello') };
    expectError(await there.send(many), 400, 'INVALID_REQUEST', 'SCHEMA');
  });
});
