/** A workload that is a chain of blocks and nothing else. */
import { Crew } from '../agents/crew.js';
import { type AssemblyPlan, assemble } from '../chain/assembly.js';
import type { Chain } from '../chain/chain.js';
import type { Workload } from '../workload.js';

export function chained(plan: AssemblyPlan): Workload {
  let crew: Crew | null = null;
  let chain: Chain | null = null;
  return {
    async prepare(context, progress) {
      crew = new Crew(context, progress);
      await crew.gather();
      chain = await assemble(crew, plan);
      crew.ready();
      return { subscribers: 0 };
    },
    next: (intendedMs) => chain!.next(intendedMs),
    drain: async (signal) => chain?.drain(signal),
    close: async () => crew?.close(),
    signed: () => crew!.record.signed,
  };
}
