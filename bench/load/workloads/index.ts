/** The workloads by name; each is loaded when it is used. */
import type { LoadOptions, WorkloadName } from '../options.js';
import type { Workload } from '../workload.js';

type Make = (options: LoadOptions) => Workload;

const workloads: Record<WorkloadName, () => Promise<Make>> = {
  votes: async () => (await import('./votes.js')).votes,
  transactions: async () => (await import('./transactions.js')).transactions,
  mixed: async () => (await import('./mixed.js')).mixed,
  reads: async () => (await import('./reads.js')).reads,
  subscribers: async () => (await import('./subscribers.js')).subscribers,
};

export async function createWorkload(options: LoadOptions): Promise<Workload> {
  return (await workloads[options.workload]())(options);
}
