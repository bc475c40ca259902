/** Whether the server's rate limits let a run through: checked before anything is sent. */
import { LoadError } from '../error.js';
import { arrivalsPerS, type LoadOptions } from '../options.js';
import type { Target } from '../server/target.js';

/** What a run uses of one limit in its fullest minute. */
interface Use {
  limit: string;
  whom: 'address' | 'agent';
  perMinute: number;
}

/** What the profile `bench` of an older server multiplies the published limits by. */
const factors: Record<string, number> = { spec: 1, bench: 10_000 };

/** @throws {LoadError} naming each limit that the run would hit. */
export function checkQuotas({ server, perMinute, inForce }: Target, options: LoadOptions): void {
  const profile = server.limits_profile ?? '';
  const factor = inForce ? 1 : factors[profile];
  if (factor === undefined) return;
  const hits = usesOf(options).flatMap((use) => {
    const quota = (perMinute[use.limit] ?? Number.POSITIVE_INFINITY) * factor;
    return use.perMinute > quota ? [sentence(use, quota)] : [];
  });
  if (hits.length === 0) return;
  const better = profile === 'spec' ? '--limits bench or --limits off' : '--limits off';
  throw new LoadError(
    `the server limits rates (profile ${profile}), and this run would be refused: ` +
      `${hits.join('; ')}. Start the server with ${better}, or ask for less`,
  );
}

function sentence({ limit, whom, perMinute }: Use, quota: number): string {
  const needed = Math.ceil(perMinute).toLocaleString('en-US');
  const each = (quota / 60).toLocaleString('en-US', { maximumFractionDigits: 2 });
  const allowed = `${quota.toLocaleString('en-US')} a minute (${each} a second) are allowed`;
  return `${limit}: ${needed} a minute from one ${whom} are needed, ${allowed}`;
}

/** In the closed loop nobody knows the rate before: then only registrations are counted. */
function usesOf(options: LoadOptions): Use[] {
  const { workload, agents, batch, durationMs, warmupMs } = options;
  const perS = arrivalsPerS(options) ?? 0;
  const fullest = perS * Math.min(60, (durationMs + warmupMs) / 1000);
  const each = fullest / Math.max(1, agents);
  const register: Use = { limit: 'register', whom: 'address', perMinute: agents };
  if (workload === 'reads') return [{ limit: 'read', whom: 'address', perMinute: fullest }];
  if (workload === 'votes') return [register, { limit: 'vote', whom: 'agent', perMinute: each }];
  if (workload === 'transactions') {
    return [
      register,
      { limit: 'propose', whom: 'agent', perMinute: batch === 0 ? 0 : each },
      { limit: 'vote', whom: 'agent', perMinute: fullest },
    ];
  }
  if (workload === 'subscribers') return [register];
  // The workload mixed: three arrivals in ten read.
  return [register, { limit: 'read', whom: 'address', perMinute: 0.3 * fullest }];
}
