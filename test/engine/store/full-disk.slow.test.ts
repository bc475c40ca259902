/** A network whose disk fills up under sustained writes refuses the writes, then continues. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Applied,
  composeMeme,
  composeRegister,
  createVerifier,
  Network,
  replay,
  type SignedRequest,
  storedLines,
  systemClock,
} from 'folkmoot';
import { signatoryOf } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';
import { smallDisk } from './start-writer.js';

const MIB = 1024 * 1024;
const stamp = '2025-01-01T00:00:00.000Z';

class Writer {
  readonly reasons = new Map<string, number>();
  #written = 0;
  told = 0;

  constructor(private readonly network: Network) {}

  async apply(request: SignedRequest): Promise<Applied> {
    const verified = await this.network.verify(request);
    if ('refusal' in verified) throw new Error(verified.refusal.message);
    return this.network.apply(verified);
  }

  /** Posts files of 100 kB without waiting, so that the queue is never empty. */
  async files(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const bytes = Buffer.alloc(100_000, `file ${this.#written} `);
      const fields = { caption: 'a file', tags: ['disk'], file: bytes };
      const request = await composeMeme(signatoryOf(1 + (this.#written % 8)), stamp, fields);
      const { outcome, durable } = await this.apply(request);
      this.#written += 1;
      const how = outcome.result === 'refused' ? outcome.refusal.reason : outcome.result;
      this.reasons.set(how, (this.reasons.get(how) ?? 0) + 1);
      if (how === 'accepted') durable.then(() => (this.told += 1)).catch(() => undefined);
    }
  }
}

test('network: sustained writes get DISK_FULL, and later continue', async (context) => {
  const disk = smallDisk(48);
  if (disk === null) return context.skip('this process may not mount a file system');
  const path = join(disk, 'data');
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(16 * MIB));
  const fatal: Error[] = [];
  const network = await Network.open({
    path,
    genesis: { network_id: 'full', signatures: 'none' },
    verifier: createVerifier('off'),
    clock: systemClock(),
    freeSpaceBytes: 8 * MIB,
    onFatal: (error) => fatal.push(error),
  });
  const writer = new Writer(network);
  for (let agent = 1; agent <= 8; agent += 1) {
    const fields = { name: 'Writer', personality: 'rational', capabilities: ['producer'] } as const;
    await writer.apply(await composeRegister(signatoryOf(agent), stamp, fields));
  }
  await writer.files(400);
  await network.durable;
  expect([fatal, [...writer.reasons.keys()].sort()]).toEqual([[], ['DISK_FULL', 'accepted']]);
  const before = writer.reasons.get('accepted')!;
  expect(before).toBeGreaterThan(20);
  rmSync(ballast);
  await writer.files(20);
  await network.durable;
  expect(writer.reasons.get('accepted')).toBe(before + 20);
  expect([fatal, writer.told]).toEqual([[], before + 20]);
  await network.close();
  const stored = openForReading(path);
  const lines = storedLines(stored, 0, stored.meta()!.seq);
  expect(await replay({ lines, stored })).toMatchObject({ match: true, entries: before + 29 });
  await stored.close();
});
