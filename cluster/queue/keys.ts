/**
 * Where a queue lies in an etcd. All of it but claims and workers hangs on the lease of its host:
 * when the host has gone, however it went, nothing is left.
 */

const ROOT = 'folkmoot/queue/';

/** Of one value: etcd refuses requests of more than 1.5 MiB. */
export const LARGEST_BYTES = 1_048_576;

export const HEADS = `${ROOT}head/`;
/** Every key of every queue. */
export const ALL = ROOT;

export interface QueueKeys {
  head: string;
  /** A task each, which a claim, a result and what was done again have the name of. */
  tasks: string;
  claims: string;
  results: string;
  /** Results of who had lost the claim, by task and worker. */
  again: string;
  workers: string;
  /** In pieces, by sha256 and number. */
  files: string;
}

export function keysOf(id: string): QueueKeys {
  const under = (what: string) => `${ROOT}${what}/${id}/`;
  return {
    head: `${HEADS}${id}`,
    tasks: under('task'),
    claims: under('claim'),
    results: under('result'),
    again: under('again'),
    workers: under('worker'),
    files: under('file'),
  };
}

/** Names of tasks, in their order as text. */
export const taskName = (number: number): string => String(number).padStart(9, '0');
export const isTaskName = (name: string): boolean => /^\d{9}$/.test(name);
