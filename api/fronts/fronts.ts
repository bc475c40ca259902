/**
 * Fronts: processes that read and write the connections of one port, while this one has the network
 * and every limit. To the application they are a transport like the others.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ListenProblem, type Where } from '../transport/listen-problem.js';
import type { Application, FrontsFigures, Listening, Transport } from '../transport/transport.js';
import { Front } from './front-process.js';

/** A front that ended is started again after so long. */
const AGAIN_MS = 100;
/** How much longer than for what is in flight a stop waits for a front. */
const GRACE_MS = 3_000;

export interface FrontsOptions {
  /** How many. */
  count: number;
  /** One ended that was not asked to; it is started again. */
  onEnded: (error: Error) => void;
}

export interface FrontsTransport extends Transport {
  figures(): FrontsFigures;
}

export function frontsTransport({ count, onEnded }: FrontsOptions): FrontsTransport {
  const fronts = new Set<Front>();
  const past = { restarts: 0, cpuSeconds: 0 };
  return {
    name: 'uws',
    figures() {
      const running = [...fronts];
      const sum = (of: (front: Front) => number) => running.reduce((all, one) => all + of(one), 0);
      return {
        running: running.length,
        restarts: past.restarts,
        cpuSeconds: past.cpuSeconds + sum(({ usage }) => usage.cpuSeconds),
        residentBytes: sum(({ usage }) => usage.residentBytes),
      };
    },
    async listen(application, { host, port }) {
      const where = { host, port: await freePort({ host, port }) };
      const folder = await mkdtemp(join(tmpdir(), 'folkmoot-fronts-'));
      let stopping = false;
      /** Starts one again, until that is wanted no more. */
      const again = async (): Promise<Front | null> => {
        for (;;) {
          await pause(AGAIN_MS);
          if (stopping) return null;
          const front = new Front(application, where, folder);
          const problem = await front.listening;
          if (problem === null) return front;
          onEnded(problem);
        }
      };
      const keep = async (first: Front) => {
        for (let front: Front | null = first; front; front = await again()) {
          fronts.add(front);
          if (front !== first) past.restarts += 1;
          if (stopping) front.stop(GRACE_MS);
          const how = await front.ended;
          fronts.delete(front);
          past.cpuSeconds += front.usage.cpuSeconds;
          if (!stopping) onEnded(new Error(`a front ended (${how}) and is started again`));
        }
      };
      const clean = () => rm(folder, { recursive: true, force: true });
      const started = await startAll(application, where, folder, count).catch(async (error) => {
        await clean();
        throw error;
      });
      const kept = started.map(keep);
      return {
        port: where.port,
        async close() {
          stopping = true;
          for (const front of fronts) front.stop(application.limits.stopMs + GRACE_MS);
          await Promise.all(kept);
          await clean();
        },
      } satisfies Listening;
    },
  };
}

/** All, or none and why. */
async function startAll(
  application: Application,
  where: Where,
  folder: string,
  count: number,
): Promise<Front[]> {
  const fronts = Array.from({ length: count }, () => new Front(application, where, folder));
  const problems = await Promise.all(fronts.map((front) => front.listening));
  const problem = problems.find((one) => one !== null);
  if (!problem) return fronts;
  for (const front of fronts) front.stop(0);
  await Promise.all(fronts.map((front) => front.ended));
  throw problem;
}

/** Fronts share their port with whoever asks for that as well: so nobody may have it before. */
async function freePort({ host, port }: Where): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port, exclusive: true });
  await once(probe, 'listening').catch((error: unknown) => {
    throw new ListenProblem({ host, port }, error);
  });
  const address = probe.address();
  const found = typeof address === 'object' && address !== null ? address.port : port;
  probe.close();
  await once(probe, 'close');
  return found;
}
