/** The first events of a run: agents join, producers take their turns, faults come and go. */
import { firstTurnAt, takeTurn } from '../agents/actions/turns.js';
import type { ScriptedAgent } from '../agents/port/agent.js';
import type { World } from '../agents/port/world.js';
import { type Stream, Streams } from '../rng.js';
import type { Faults } from '../world/links/faults.js';

/** Schedules joining and leaving, producing, and whatever faults call for. */
export function scheduleFirst(
  agents: readonly ScriptedAgent[],
  world: World,
  faults: Faults,
  seed: string,
) {
  const streams = new Streams(seed);
  for (const agent of agents) {
    const { ordinal, joinsMs, leavesMs } = agent;
    world.schedule(ordinal, world.startMs + joinsMs, { type: 'join' });
    if (Number.isFinite(leavesMs)) {
      world.schedule(ordinal, world.startMs + leavesMs, { type: 'depart' });
    }
    if (agent.producer) takeTurn(agent, world, firstTurnAt(agent, world));
  }
  for (const { members, end } of faults.of('crash')) {
    for (const member of members) world.schedule(member, end, { type: 'restart' });
  }
  for (const churn of faults.of('churn')) {
    for (const member of churn.members) {
      comeAndGo(member, world, churn, streams.of(member, `churn/${churn.start}`));
    }
  }
}

interface Churn {
  start: number;
  end: number;
  stay_ms: number;
  away_ms: number;
}

/** Leaves and returns, spaced by chance around their means; at the end it is back. */
function comeAndGo(agent: number, world: World, churn: Churn, stream: Stream): void {
  const around = (mean: number) => Math.ceil(mean / 2) + stream.int(mean);
  let at = churn.start + stream.int(churn.stay_ms);
  while (at < churn.end) {
    const back = Math.min(at + around(churn.away_ms), churn.end);
    world.schedule(agent, at, { type: 'leave' });
    world.schedule(agent, back, { type: 'return' });
    at = back + around(churn.stay_ms);
  }
}
