/** Malformed forms, and a form library that fails in every way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { type Host, host, residentBytes, stop } from '../../support/host.js';
import { meme, registration } from '../clients/actions.js';
import type { Answer } from '../clients/caller.js';
import { Caller, stamp } from '../clients/caller.js';
import { Wire } from '../clients/wire.js';

const faults = fileURLToPath(new URL('./forms-worker-faults.mjs', import.meta.url));
/** Maximum memory that may remain. The forms contain far more data. */
const GROWTH_BYTES = 250 * 1024 * 1024;

const by = signatoryOf(1);

const part = (rest: string) => `--X\r\nContent-Disposition: form-data; name="caption"${rest}`;
const field = (text: string) => `${part('\r\n\r\n')}${text}\r\n--X--\r\n`;

/** Forms to which the server responds with 400. */
const malformed: Record<string, string> = {
  '33 parts without an end': part('\r\n\r\n').repeat(33),
  'an end that is none': '--Xv\r\n--X--',
  'half an end': '--X\r\n\r\n--X-',
  'no body': '',
  'an open header': part(''),
  'an open file': `${part('; filename="a"')}\r\n\r\nabc`,
  'a header without an end': `--X\r\n${'x'.repeat(100_000)}`,
  '33 files': `${part('; filename="a"')}\r\n\r\n\r\n`.repeat(33),
  'only its end': '--X--',
};

/** Sends a form as a registered agent, because the server does not read other forms. */
async function send(server: Host, path: string, body: string): Promise<Answer | null> {
  const wire = await Wire.open(server.url);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: multipart/form-data; boundary=X',
    `X-Agent-Public-Key: ${by.publicKey}`,
    `X-Timestamp: ${stamp()}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  wire.send(`${head.join('\r\n')}\r\n\r\n${body}`);
  return wire.answer();
}

describe.each(['uws', 'node'])('forms: over %s', (transport) => {
  const args = ['--transport', transport];
  const memes = '/api/v1/social/memes';

  test('forms: malformed forms are answered at once, and do not delay a stop', async () => {
    const server = await host({ data: temporaryFolder(), args });
    await new Caller(server.url).do(registration(by, 'Ada'));
    const before = residentBytes(server.pid);
    for (const [what, body] of Object.entries(malformed)) {
      const answer = await send(server, memes, body);
      expect([what, answer?.status]).toEqual([what, 400]);
    }
    const filler = 'x'.repeat(1024 * 1024);
    const bodies = ['--Xv\r\n--X--', part('\r\n\r\n').repeat(33)].map((body) => body + filler);
    for (let round = 0; round < 10; round += 1) {
      const many = Array.from({ length: 20 }, (_, index) =>
        send(server, memes, bodies[index % 2]!),
      );
      for (const answer of await Promise.all(many)) expect(answer?.status).toBe(400);
    }
    expect(residentBytes(server.pid) - before).toBeLessThan(GROWTH_BYTES);
    await stop(server);
  });

  test('forms: no fault of the library ends or blocks the server', async () => {
    const nodeArgs = ['--import', faults];
    const server = await host({ data: temporaryFolder(), args, nodeArgs });
    const caller = new Caller(server.url);
    await caller.do(registration(by, 'Ada'));
    for (const [index, text] of ['THROW LATER', 'REJECT', 'SILENT', 'FOR EVER'].entries()) {
      const answering = send(server, memes, field(text));
      // Other requests do not wait for the form.
      expect((await caller.call('GET', '/healthz')).status).toBe(200);
      expect([text, (await answering)?.status]).toEqual([text, 400]);
      await caller.do(meme(by, `after fault ${index}`));
    }
    const held = send(server, memes, field('FOR EVER'));
    await sleep(100);
    await stop(server);
    await held;
  });
});
