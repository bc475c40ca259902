/** Fixtures. Each is torn down at the end of its test. */
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
import { START_MS } from './citizens.js';

export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'folkmoot-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder on a real disk, for tests that need slow commits. */
export const diskFolder = () => temporaryFolder(process.env.FOLKMOOT_TEST_DISK);

/** Number of ports per vitest worker, so that two tests never get the same port. */
const PORTS_EACH = 3_000;
const firstPort = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 1) % 4) * PORTS_EACH;
let nextPort = randomInt(PORTS_EACH);

/**
 * Returns a free port for a server that restarts on the same port. A port that the server picks
 * does not work, because uWebSockets.js binds without SO_REUSEADDR. The port is outside the
 * ephemeral range, so no other program can take it during the restart.
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

/** Derives a key from a number. */
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
  /** Verifies and submits a request. A refused signature is also an outcome. */
  submit(request: SignedRequest): Promise<Outcome>;
}

export interface TestNetworkOptions {
  genesis?: Partial<GenesisOptions>;
  /** Data folder (default: in memory). */
  path?: string;
  verifier?: VerifierKind;
}

/** Opens a network in virtual time that closes at the end of the test. */
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
  return { network, clock, submit: async (r) => network.submit(await network.verify(r)) };
}

/** Defines tests that each begin with a scene of their own. `each` is the usual one. */
export const testsWith = <Scene>(begin: () => Promise<Scene>) =>
  Object.assign(
    (name: string, run: (scene: Scene) => Promise<void>) =>
      test(name, async () => run(await begin())),
    { each: test.each.bind(test) },
  );
