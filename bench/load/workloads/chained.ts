/** A workload that is a chain of blocks and nothing else. */
import { AgentPool } from '../agents/agent-pool.js';
import { type AssemblyPlan, assemble } from '../chain/assembly.js';
import type { Chain } from '../chain/chain.js';
import type { Workload } from '../workload.js';

export function chained(plan: AssemblyPlan): Workload {
  let pool: AgentPool | null = null;
  let chain: Chain | null = null;
  return {
    async prepare(context, progress) {
      pool = new AgentPool(context, progress);
      await pool.gather();
      chain = await assemble(pool, plan);
      pool.ready();
      return { subscribers: 0 };
    },
    next: (intendedMs) => chain!.next(intendedMs),
    waitsFor: () => chain!.waitsFor,
    limit: (perS) => chain!.limit(perS),
    drain: async (signal) => chain?.drain(signal),
    close: async () => pool?.close(),
    signed: () => pool!.record.signed,
  };
}
