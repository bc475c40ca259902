/** Tests the measuring clients against a bare server, and frames that arrive in pieces. */
import fc from 'fast-check';
import { getRate, subscribe } from '../../dist/bench/clients/clients.js';
import { countFrames } from '../../dist/bench/clients/frames.js';
import { withBare } from '../../dist/bench/servers/processes.js';

const loads = await import('uWebSockets.js').then(
  () => true,
  () => false,
);

test.runIf(loads)(
  'bare server: answers with the given body, and reports its CPU time',
  async () => {
    await withBare('{"all":"well"}', async (server) => {
      expect(await (await fetch(server.url)).text()).toBe('{"all":"well"}');
      const { perSecond, cpuUs } = await getRate(server, '/', 0.3);
      expect(perSecond).toBeGreaterThan(0);
      expect(cpuUs).toBeGreaterThan(0);
    });
  },
);

test.runIf(loads)('subscribers: count each delivery of a publish', async () => {
  await withBare('', async (server) => {
    const subscribers = await subscribe(server, [[], [], []]);
    for (const body of ['short', 'x'.repeat(70_000)]) {
      const delivered = subscribers.delivered(3);
      await fetch(server.url, { method: 'POST', body });
      await delivered;
    }
    await subscribers.close();
  });
});

test.each([
  ['small frames, byte by byte', 200, { min: 1, max: 3 }],
  ['large frames', 70_000, { min: 500, max: 20_000 }],
])('frames: are counted in any fragmentation: %s', (_, longest, pieces) => {
  const border = fc.constantFrom(125, 126, 127, 65_535, 65_536).filter((size) => size <= longest);
  const lengths = fc.array(fc.oneof(fc.nat(longest), border), { maxLength: 10 });
  const property = fc.property(lengths, fc.integer(pieces), (sizes, piece) => {
    const bytes = Buffer.concat(sizes.map(frameOf));
    let count = 0;
    const counter = countFrames(() => {
      count += 1;
    });
    for (let at = 0; at < bytes.length; at += piece) counter(bytes.subarray(at, at + piece));
    expect(count).toBe(sizes.length);
  });
  fc.assert(property, { numRuns: 50 });
});

/** Builds a text frame as a server sends it. */
function frameOf(length: number): Buffer {
  const payload = Buffer.alloc(length, 'x');
  if (length < 126) return Buffer.concat([Buffer.from([0x81, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x81;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
