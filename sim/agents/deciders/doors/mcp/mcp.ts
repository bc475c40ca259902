/** A decider that is a tool of an MCP server: some sessions, each begun when it is first asked. */
import { ScenarioError } from '../../../../scenario/problem.js';
import { type Door, NoAnswer, sent } from '../door.js';
import { valueIn } from './said.js';
import type { Sdk } from './sdk.js';
import { McpSession } from './session.js';
import type { Place } from './ways.js';

export interface McpOptions {
  sdk: Sdk;
  place: Place;
  tool: string;
  sessions: number;
}

export function mcpDoor({ sdk, place, tool, sessions }: McpOptions): Door {
  const open: (McpSession | undefined)[] = [];
  const closing = new Set<Promise<void>>();
  let answered = false;
  const close = (session: McpSession): void => {
    const closed = session.close().catch(() => {});
    closing.add(closed);
    closed.then(() => closing.delete(closed));
  };
  const leave = (lane: number): void => {
    const session = open[lane];
    if (!session?.over) return;
    open[lane] = undefined;
    close(session);
  };
  const at = (lane: number): McpSession => {
    leave(lane);
    open[lane] ??= new McpSession(sdk, place, tool);
    return open[lane];
  };
  return {
    lanes: sessions,
    atOnce: 1,
    async ask(question, lane, signal) {
      const session = at(lane);
      try {
        const result = await session.ask(sent(question), signal);
        answered = true;
        return { value: valueIn(result) };
      } catch (error) {
        // What has answered once was no mistake of the scenario.
        const passes = answered && error instanceof ScenarioError;
        throw passes ? new NoAnswer('refused', error.message) : error;
      } finally {
        leave(lane);
      }
    },
    async close() {
      for (const session of open) if (session) close(session);
      await Promise.all(closing);
    },
  };
}
