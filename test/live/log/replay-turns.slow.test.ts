/**
 * The server counts and sends long replays in slices, so that it can serve other clients meanwhile.
 */
import { fileURLToPath } from 'node:url';
import { composeStatus, createVerifier, Network, type SignedRequest } from 'folkmoot';
import { agentId } from 'folkmoot/signing';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import { stamp } from '../../support/service/signer.js';
import { meta, registration } from '../clients/actions.js';
import { Caller } from '../clients/caller.js';
import { Subscriber } from '../clients/subscriber.js';

const EVENTS = 30_000;
const READERS = 4;
const delays = fileURLToPath(new URL('./loop-delay.mjs', import.meta.url));
const by = signatoryOf(1);

/** Creates a folder with a long history. */
async function history(): Promise<string> {
  const path = temporaryFolder();
  const verifier = createVerifier('off');
  const onFatal = (error: Error) => {
    throw error;
  };
  const network = await Network.open({
    ...{ path, genesis: { network_id: 'devnet' }, verifier, onFatal },
  });
  const submit = async (request: SignedRequest) => network.submit(await network.verify(request));
  await submit(registration(by, 'Ada'));
  const id = agentId(by.publicKey);
  const update = () => submit(composeStatus(by, stamp(), id, { status: 'active' }));
  for (let done = 1; done < EVENTS; done += 500) {
    await Promise.all(Array.from({ length: 500 }, update));
  }
  await network.close();
  await verifier.close();
  return path;
}

test('replay: several readers do not block the event loop', async () => {
  const data = await history();
  for (const transport of ['uws', 'node']) {
    const args = ['--transport', transport];
    const server = await host({ data, args, nodeArgs: ['--import', delays] });
    const { epoch, event_seq } = await meta(new Caller(server.url));
    const readers = await Promise.all(
      Array.from({ length: READERS }, () => Subscriber.open(server.wsUrl, by)),
    );
    await server.ask('reset');
    await Promise.all(
      readers.map(async (reader) => {
        reader.onEvent = () => {};
        const since = { epoch: String(epoch), seq: 0 };
        expect((await reader.subscribe(['network'], since)).replay).toBe(event_seq);
        await reader.took(Number(event_seq));
      }),
    );
    const { longestMs, wholeMs } = (await server.ask('worked')) as Record<string, number>;
    process.stdout.write(
      `replay: over ${transport}, ${READERS} times ${event_seq} events took the main thread ` +
        `${Math.round(wholeMs!)} ms, and ${Math.round(longestMs!)} ms at most in one turn\n`,
    );
    expect(longestMs).toBeLessThan(wholeMs! / 4);
    await stop(server);
  }
});
