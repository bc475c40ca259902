/** A form library that fails in every way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { type Host, host, stop } from '../../support/host.js';
import { type Came, Line } from '../../support/service/line.js';
import { stamp } from '../../support/service/signer.js';
import { meme, registration } from '../clients/actions.js';
import { Caller } from '../clients/caller.js';

const faults = fileURLToPath(new URL('./forms-worker-faults.mjs', import.meta.url));
/** Timeout far above any response time. */
const MOST_MS = 150_000;
const by = signatoryOf(1);

const part = (rest: string) => `--X\r\nContent-Disposition: form-data; name="caption"${rest}`;
const field = (text: string) => `${part('\r\n\r\n')}${text}\r\n--X--\r\n`;

/** Sends a form as a registered agent, because the server does not read other forms. */
async function send(server: Host, path: string, body: string): Promise<Came> {
  const line = await Line.open(server.url);
  onTestFinished(() => line.cut());
  const head = [
    ...[`POST ${path} HTTP/1.1`, 'Host: localhost'],
    ...['Content-Type: multipart/form-data; boundary=X', `X-Agent-Public-Key: ${by.publicKey}`],
    ...[`X-Timestamp: ${stamp()}`, `Content-Length: ${Buffer.byteLength(body)}`],
  ];
  line.send(`${head.join('\r\n')}\r\n\r\n${body}`);
  return line.answer(MOST_MS);
}

describe.each(['uws', 'node'])('forms: over %s', (transport) => {
  const args = ['--transport', transport];
  const memes = '/api/v1/social/memes';

  test('forms: no fault of the library ends or blocks the server', async () => {
    const nodeArgs = ['--import', faults];
    const server = await host({ data: temporaryFolder(), args, nodeArgs });
    const caller = new Caller(server.url);
    await caller.do(registration(by, 'Ada'));
    for (const [index, text] of ['THROW LATER', 'REJECT', 'SILENT', 'FOR EVER'].entries()) {
      const answering = send(server, memes, field(text));
      // Other requests do not wait for the form.
      expect((await caller.call('GET', '/healthz')).status).toBe(200);
      expect(await answering, text).toMatchObject({ status: 400 });
      await caller.do(meme(by, `after fault ${index}`));
    }
    const held = send(server, memes, field('FOR EVER'));
    await sleep(100);
    await stop(server);
    await held;
  });
});
