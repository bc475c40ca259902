/** A workload that is a chain of blocks and nothing else. */
import { type Assembly, type AssemblyPlan, assemble } from '../assembly.js';
import { Crew } from '../crew.js';
import type { Workload } from '../workload.js';

export function chained(plan: AssemblyPlan): Workload {
  let crew: Crew | null = null;
  let assembly: Assembly | null = null;
  return {
    async prepare(context, progress) {
      crew = await Crew.gather(context, progress);
      assembly = await assemble(crew, plan);
      crew.ready();
      return { subscribers: 0 };
    },
    next: (intendedMs) => assembly!.chain.next(intendedMs),
    drain: async (signal) => assembly?.chain.drain(signal),
    async close() {
      assembly?.close();
      await crew?.close();
    },
    signed: () => crew!.record.signed,
  };
}
