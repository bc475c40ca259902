/** The workloads by name; each is loaded when it is used. */
import type { LoadOptions, WorkloadName } from '../options.js';
import type { Workload } from '../workload.js';

type Make = (options: LoadOptions) => Workload;

const workloads: Partial<Record<WorkloadName, () => Promise<Make>>> = {
  reads: async () => (await import('./reads.js')).reads,
};

export async function createWorkload(options: LoadOptions): Promise<Workload> {
  const load = workloads[options.workload];
  if (!load) throw new Error(`there is no workload ${options.workload}`);
  return (await load())(options);
}
