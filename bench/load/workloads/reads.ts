/**
 * The workload `reads`: the network state, the list of agents, and the listed agents' reputations.
 * Needs no registered agents.
 */
import type { Call, CallOutcome, RunContext, Workload } from '../workload.js';

interface ReadKind {
  /** Requests of this kind per round. */
  weight: number;
  target(ids: readonly string[], count: number): string;
  holds(data: unknown): boolean;
}

/** A server without this parameter returns the whole list. */
const LIST = 20;

const kinds: readonly ReadKind[] = [
  {
    weight: 2,
    target: () => '/api/v1/network/state',
    holds: (data) => typeof member(data, 'block_height') === 'number',
  },
  {
    weight: 1,
    target: () => `/api/v1/network/agents?limit=${LIST}`,
    holds: (data) => listed(data) !== null,
  },
  {
    weight: 1,
    target: (ids, count) => `/api/v1/social/reputation/${encodeURIComponent(pick(ids, count))}`,
    holds: (data) => typeof member(data, 'overall_score') === 'number',
  },
];

export function reads(): Workload {
  let ids: readonly string[] = [];
  let round: readonly ReadKind[] = [];
  let count = 0;
  return {
    async prepare(context, progress) {
      ids = listed(await ask(context)) ?? [];
      if (ids.length === 0) progress('server has no agents; reputations are not read');
      const usable = ids.length > 0 ? kinds : kinds.slice(0, 2);
      round = usable.flatMap((kind) => new Array<ReadKind>(kind.weight).fill(kind));
      return { subscribers: 0 };
    },
    next() {
      const kind = round[count % round.length]!;
      count += 1;
      return read(kind.target(ids, count), kind.holds, () => {});
    },
    async drain() {},
    async close() {},
    signed: () => ({ keys: 0, messages: 0, preparedAhead: 1 }),
  };
}

/** Reads the list of agents; null if the read fails. */
function ask(context: RunContext): Promise<unknown> {
  return new Promise((resolve) => {
    const { target, holds } = kinds[1]!;
    const completed = (outcome: CallOutcome) =>
      resolve(outcome.kind === 'accepted' ? outcome.data : null);
    context.send(read(target([], 0), holds, completed));
  });
}

function read(
  target: string,
  holds: (data: unknown) => boolean,
  completed: (outcome: CallOutcome) => void,
): Call {
  return { operation: 'read', method: 'GET', target, headers: {}, body: null, holds, completed };
}

/** Returns the distinct ids in a list; null if the data is not a list. */
function listed(data: unknown): string[] | null {
  const lists = [member(data, 'validators'), member(data, 'producers')];
  if (!lists.every(Array.isArray)) return null;
  const ids = lists.flat().map((agent) => member(agent, 'id'));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

const member = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined;

const pick = (ids: readonly string[], count: number) => ids[count % ids.length]!;
