/** Reads of the state, of the agents, and of reputations of the run's agents, or of any agents. */
import type { Kind } from '../options.js';
import type { Call, CallOutcome, RunContext, Source } from '../workload.js';

interface ReadKind {
  target(ids: readonly string[], count: number): string;
  holds(data: unknown): boolean;
}

/** A server without this parameter returns the whole list. */
const LIST = 20;

const kinds = {
  state: {
    target: () => '/api/v1/network/state',
    holds: (data) => typeof member(data, 'block_height') === 'number',
  },
  agents: {
    target: () => `/api/v1/network/agents?limit=${LIST}`,
    holds: (data) => listed(data) !== null,
  },
  reputation: {
    target: (ids, count) => `/api/v1/social/reputation/${encodeURIComponent(pick(ids, count))}`,
    holds: (data) => typeof member(data, 'overall_score') === 'number',
  },
} as const satisfies Record<string, ReadKind>;

const rounds: Partial<Record<Kind, readonly (keyof typeof kinds)[]>> = {
  read: ['state', 'state', 'agents', 'reputation'],
  state: ['state'],
  agents: ['agents'],
  reputation: ['reputation'],
};

/** @param own ids of the agents of the run, if there are some. */
export async function reads(
  kind: Kind,
  own: readonly string[],
  context: RunContext,
  progress: (line: string) => void,
): Promise<Source> {
  const ids = own.length > 0 ? own : (listed(await ask(context)) ?? []);
  if (ids.length === 0) progress('server has no agents; reputations are not read');
  const round = rounds[kind]!.filter((name) => ids.length > 0 || name !== 'reputation');
  let count = 0;
  return {
    next() {
      const { target, holds } = kinds[round[count % round.length] ?? 'state'];
      count += 1;
      return read(target(ids, count), holds, () => {});
    },
  };
}

function ask(context: RunContext): Promise<unknown> {
  return new Promise((resolve) => {
    const { target, holds } = kinds.agents;
    const completed = (outcome: CallOutcome) =>
      resolve(outcome.kind === 'accepted' ? outcome.data : null);
    context.send(read(target(), holds, completed));
  });
}

export function read(
  target: string,
  holds: (data: unknown) => boolean,
  completed: (outcome: CallOutcome) => void = () => {},
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
