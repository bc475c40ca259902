/** Ready-made things for tests; each is torn down by the test that asked for it. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createVerifier,
  type GenesisOptions,
  keyPairFromSeed,
  Network,
  type Outcome,
  type Signatory,
  type SignedRequest,
  sign,
  type VerifierKind,
  type VirtualClock,
  virtualClock,
} from 'folkmoot';
import { onTestFinished } from 'vitest';
import { START_MS } from './citizens.js';

export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'folkmoot-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder on the disk, for a fast test that needs commits to take a while. */
export const diskFolder = () => temporaryFolder(process.env.FOLKMOOT_TEST_DISK);

/** Of each worker of vitest: no two tests are given the same port between look and use. */
const PORTS_EACH = 3_000;
const firstPort = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 1) % 4) * PORTS_EACH;
let nextPort = randomInt(PORTS_EACH);

/**
 * A port that is free now, for a server that is to come back at it. One that a server has picked
 * itself cannot be had again at once: it was bound without SO_REUSEADDR by uWebSockets.js. It is
 * none of those that the system hands out, which others may be given while that server is away.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + nextPort;
    nextPort = (nextPort + 1) % PORTS_EACH;
    const probe = createServer().listen(port, '127.0.0.1');
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

/** A key that follows from a number. */
export function signatoryOf(number: number): Signatory {
  const seed = new Uint8Array(32);
  new DataView(seed.buffer).setUint32(28, number + 1);
  const keys = keyPairFromSeed(seed);
  return {
    publicKey: keys.publicKeyHex,
    sign: (input) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
}

export interface TestNetwork {
  network: Network;
  clock: VirtualClock;
  /** Verifies and submits; a refused signature is an outcome like any other. */
  submit(request: SignedRequest): Promise<Outcome>;
}

export interface TestNetworkOptions {
  genesis?: Partial<GenesisOptions>;
  /** A folder; in memory without one. */
  path?: string;
  verifier?: VerifierKind;
}

/** A network in virtual time, closed when the test ends. */
export async function testNetwork(options: TestNetworkOptions = {}): Promise<TestNetwork> {
  const { genesis = {}, path, verifier: kind = 'inline' } = options;
  const clock = virtualClock(START_MS);
  const verifier = createVerifier(kind);
  const network = await Network.open({
    ...(path === undefined ? { memory: true } : { path }),
    genesis: { network_id: 'devnet', ...genesis },
    verifier,
    clock,
    onFatal: (error) => {
      throw error;
    },
  });
  onTestFinished(async () => {
    await network.close();
    await verifier.close();
  });
  return {
    network,
    clock,
    submit: async (request) => network.submit(await network.verify(request)),
  };
}
