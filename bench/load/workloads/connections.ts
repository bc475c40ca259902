/**
 * Connections as load. Each arrival connects an agent, which keeps the connection until its next
 * turn, so the number of agents is that of open connections.
 */
import type { Agent, AgentPool } from '../agents.js';
import { EventStream, topics } from '../event-stream.js';
import { note } from '../messages.js';
import { forEachLimited } from '../server.js';
import type { Call, CallOutcome, Source } from '../workload.js';

interface ConnectionRow {
  /** True if all agents are connected before the run, and lose the connection at their turn. */
  startsOpen: boolean;
  /** True if the connection is read after it subscribed. */
  isRead: boolean;
}

export const connectionKinds = {
  connect: { startsOpen: false, isRead: true },
  reconnect: { startsOpen: true, isRead: true },
  slowread: { startsOpen: false, isRead: false },
} as const satisfies Record<string, ConnectionRow>;

/** Connections opened concurrently before the run. */
const AT_A_TIME = 64;

export async function connections(
  pool: AgentPool,
  kind: keyof typeof connectionKinds,
  agents: readonly Agent[],
): Promise<Source> {
  const source = new Connections(pool, connectionKinds[kind], agents);
  await source.prepare();
  return source;
}

class Connections implements Source {
  readonly #pool: AgentPool;
  readonly #row: ConnectionRow;
  readonly #agents: readonly Agent[];
  readonly #open = new Map<Agent, EventStream>();
  readonly #busy = new Set<Agent>();
  #turn = 0;
  #opened = 0;
  #closed = 0;

  constructor(pool: AgentPool, row: ConnectionRow, agents: readonly Agent[]) {
    this.#pool = pool;
    this.#row = row;
    this.#agents = agents;
  }

  async prepare(): Promise<void> {
    this.#pool.atEnd(() => {
      for (const stream of this.#open.values()) stream.cut();
      this.#open.clear();
    });
    if (!this.#row.startsOpen) return;
    const { context, progress } = this.#pool;
    await forEachLimited(this.#agents, AT_A_TIME, (agent) =>
      this.#connect(agent, context.now(), () => false),
    );
    progress(`${this.#agents.length} agents connected`);
  }

  next(intendedMs: number): Call | null {
    const agent = this.#agents[this.#turn % this.#agents.length]!;
    if (this.#busy.has(agent)) return null;
    this.#turn += 1;
    this.#busy.add(agent);
    let isOver = false;
    return {
      ...{ operation: 'connect', agent: agent.ordinal, method: 'GET', target: '/ws/v1' },
      ...{ headers: {}, body: null, holds: () => true },
      perform: () => this.#connect(agent, intendedMs, () => isOver),
      completed: () => {
        isOver = true;
        this.#busy.delete(agent);
        this.#pool.context.wake();
      },
    };
  }

  notes(): string[] {
    if (this.#row.isRead || this.#opened === 0) return [];
    return [note('SLOW_READERS', { closed: this.#closed, opened: this.#opened }).text];
  }

  /** @param isOver returns true once the call has an outcome, such as a timeout. */
  async #connect(agent: Agent, intendedMs: number, isOver: () => boolean): Promise<CallOutcome> {
    const { context } = this.#pool;
    this.#open.get(agent)?.cut();
    this.#open.delete(agent);
    try {
      const stream = await EventStream.open({
        nodes: { ...pickNodes(context.nodes), keepGoing: false },
        ...{ agent: agent.ordinal, auth: () => this.#pool.auth(agent) },
        receive: () => {},
        onClosed: () => this.#lost(agent, intendedMs),
      });
      await stream.expect(topics);
      if (isOver()) stream.cut();
      else this.#open.set(agent, stream);
      this.#opened += 1;
      if (!this.#row.isRead) stream.stopReading();
      return { kind: 'accepted', status: 101, data: {} };
    } catch (error) {
      const { problem } = error as { problem?: string };
      if (problem === 'STREAM_UNREACHABLE') return { kind: 'broken' };
      return { kind: 'refused', status: 101, code: problem ?? '-', reason: '-' };
    }
  }

  #lost(agent: Agent, intendedMs: number): void {
    this.#open.delete(agent);
    this.#closed += 1;
    if (!this.#row.isRead) return;
    this.#pool.context.recorder.deliveries({ disconnects: 1 }, intendedMs);
  }
}

/** Returns what a stream needs of the servers. It does not reconnect by itself. */
const pickNodes = (nodes: AgentPool['context']['nodes']) => ({
  urls: nodes.urls,
  choose: (agent?: number) => nodes.choose(agent),
  pause: (attempt: number) => nodes.pause(attempt),
});
