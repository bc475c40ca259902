/** Guests on somebody's server: those that were there before, and how all of them leave. */
import { ApiError, keysFromSeed } from '../../../api/client/index.js';
import { composeStatus, formatInstant } from '../../../engine/internal.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { secretOf } from '../../agents/keys.js';
import type { ScriptedAgent } from '../../agents/port/agent.js';
import { ConcurrencyLimit } from '../../world/gateway/concurrency.js';
import type { RemoteGateway } from '../../world/gateway/remote.js';

/** So many are looked for: the keys of a seed come all or not at all. */
const LOOKED_FOR = 4;
const CONNECTIONS = 32;
/** Less than the skew that a server takes: later than whatever an agent with a wrong clock said. */
const AHEAD_MS = 290_000;

/** What is to be said when agents of this seed are on the server already; else null. */
export async function knownBefore(
  { client, url }: RemoteGateway,
  seed: string,
  population: number,
): Promise<string | null> {
  const first = Array.from({ length: Math.min(LOOKED_FOR, population) }, (_, agent) => agent);
  const looks = first.map(async (agent) => {
    const { publicKey } = keysFromSeed(secretOf(seed, agent));
    // That nobody answers is noticed when there is more to ask for.
    const view = await client.agent(agentId(publicKey)).catch(() => null);
    return view?.status ?? null;
  });
  const found = (await Promise.all(looks)).filter((status) => status !== null);
  if (found.length === 0) return null;
  const advice = 'for new ones give another --seed';
  const there = `${url} has agents of the seed ${seed} already`;
  return found.includes('active')
    ? `${there}, and they are active: if another run has them, each disturbs the other; ${advice}`
    : `${there}: they come again with the names and reputations that they have; ${advice}`;
}

/**
 * Those that joined become inactive: an elector that is gone would hold up every block.
 * @returns how many could not be withdrawn.
 */
export async function withdraw(
  gateway: RemoteGateway,
  agents: readonly ScriptedAgent[],
): Promise<number> {
  const joined = agents.filter((agent) => agent.joined && !agent.left);
  const slots = new ConcurrencyLimit(CONNECTIONS, joined.length);
  let left = 0;
  let gone = false;
  const leave = async (agent: ScriptedAgent) => {
    if (gone) return;
    const answer = await inactive(gateway, agent, gateway.now());
    if (answer === 'REPLAYED') {
      if ((await inactive(gateway, agent, gateway.now() + AHEAD_MS)) === 'done') left += 1;
    } else if (answer === 'done') left += 1;
    else if (answer === 'lost') gone = true;
  };
  await Promise.all(joined.map((agent) => slots.run(() => leave(agent))));
  return joined.length - left;
}

async function inactive(
  gateway: RemoteGateway,
  { by }: ScriptedAgent,
  at: number,
): Promise<string> {
  const fields = { status: 'inactive', reason: 'its simulation has ended' } as const;
  const request = composeStatus(by, formatInstant(at), agentId(by.publicKey), fields);
  try {
    await gateway.client.send(request);
    return 'done';
  } catch (error) {
    return error instanceof ApiError ? String(error.reason) : 'lost';
  }
}
