/** Cluster nodes in this process that share an order, with agents. */
import {
  composeProposal,
  composeRegister,
  composeVote,
  createVerifier,
  GENESIS_HASH,
  type NetworkOptions,
  type Outcome,
  type Signatory,
  type SignedRequest,
  type VerifierKind,
} from 'folkmoot';
import { type ServerOptions, startServer } from 'folkmoot/api';
import { ClusterNetwork } from '../../../dist/cluster/network.js';
import { admit } from '../../../dist/engine/admit/admit.js';
import { hostClock } from '../../../dist/engine/store/host-clock.js';
import { signatoryOf } from '../fixture.js';
import type { Door, MemoryOrder } from './order.js';

export interface TestNode {
  network: ClusterNetwork;
  door: Door;
  /** Fatal errors in the node. */
  fatal: Error[];
  warnings: string[];
  verify(request: SignedRequest): ReturnType<ClusterNetwork['verification']['all']>;
  submit(request: SignedRequest): Promise<Outcome>;
  close(): Promise<void>;
}

export interface TestNodeOptions {
  name?: string;
  path?: string;
  genesis?: Partial<NetworkOptions['genesis']>;
  verifier?: VerifierKind;
  verifyAll?: boolean;
  /** Milliseconds by which the node's clock is ahead. */
  aheadMs?: number;
}

/** Opens a node that closes when the test ends. */
export async function openNode(
  order: MemoryOrder,
  options: TestNodeOptions = {},
): Promise<TestNode> {
  const { name = 'n1', path, genesis = {}, verifyAll = false, aheadMs = 0 } = options;
  const door = order.open(name);
  const verifier = createVerifier(options.verifier ?? 'inline');
  const fatal: Error[] = [];
  const warnings: string[] = [];
  const network = await ClusterNetwork.open({
    order: door,
    node: name,
    verifier,
    verifyAll,
    ...(path === undefined ? { memory: true } : { path }),
    genesis: { network_id: 'devnet', ...genesis },
    host: { ...hostClock, now: () => Date.now() + aheadMs },
    warn: (line) => warnings.push(line),
    onFatal: (error) => fatal.push(error),
  });
  const close = async () => {
    await network.close().catch(() => {});
    await verifier.close();
  };
  onTestFinished(close);
  const verify = (request: SignedRequest) => network.verification.all(admittedOf(network, request));
  return {
    network,
    door,
    fatal,
    warnings,
    verify,
    submit: async (request) => network.submit(await verify(request)),
    close,
  };
}

function admittedOf(network: ClusterNetwork, request: SignedRequest) {
  const admitted = admit(request, network.genesis.network_id);
  if ('refusal' in admitted) throw new Error(admitted.refusal.message);
  return admitted;
}

const now = () => new Date().toISOString();
const capabilities = ['validator', 'producer'] as const;

export const agents: readonly Signatory[] = Array.from({ length: 9 }, (_, n) => signatoryOf(n));

export const registration = (by: Signatory, name = 'Ada') =>
  composeRegister(by, now(), { personality: 'lawful', name, capabilities });

export const proposal = (by: Signatory, parent_hash: string = GENESIS_HASH) =>
  composeProposal(by, now(), { parent_hash, transactions: [] });

export const vote = (
  by: Signatory,
  block_hash: string,
  decision: 'approve' | 'reject' = 'approve',
) => composeVote(by, now(), { block_hash, decision });

/** Returns the block hash from an accepted proposal. */
export function blockOf(outcome: Outcome): string {
  if (!('data' in outcome) || !('block_hash' in outcome.data)) {
    throw new Error(`no block: ${JSON.stringify(outcome)}`);
  }
  return outcome.data.block_hash;
}

/** Returns the state that must be equal on all nodes. */
function endOf({ network }: TestNode) {
  const { seq, event_seq, digest, log_digest, order } = network.read.position;
  return { seq, event_seq, digest, log_digest, version: order!.version, time: order!.time };
}

/** Waits until all nodes have applied all batches, and expects equal states. */
export async function expectSame(order: MemoryOrder, nodes: readonly TestNode[]) {
  const [first] = nodes;
  await expect
    .poll(() => nodes.map((node) => order.head.version - endOf(node).version), { interval: 20 })
    .toEqual(nodes.map(() => 0));
  for (const node of nodes) {
    expect([node.fatal, endOf(node)]).toEqual([[], endOf(first!)]);
  }
}

/** Serves a node until the test ends, without limits by default. Returns its address. */
export async function served(node: TestNode, options: Partial<ServerOptions> = {}) {
  // The sources and the built package declare distinct types.
  const network = node.network as unknown as ServerOptions['network'];
  const server = await startServer({
    ...{ network, cluster: node.network.status, transport: 'node', version: '0.0.0-test' },
    ...{ limits: 'off', ...options },
  });
  onTestFinished(() => server.close());
  return server.url;
}

/** Options of a node that fetches a snapshot of any kind. */
export const fetching = (secret: string) => ({
  ...{ secret, network: 'devnet', node: 'n2', signal: new AbortController().signal },
  ...{ accept: () => {}, progress: () => {} },
});
