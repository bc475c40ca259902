/** `folkmoot sim --watch`: the page of a run while it is made, and the clock that paces it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, SimHooks } from '../../../sim/index.js';
import { say } from '../../output/output.js';
import { openDoor, type WatchFlags } from '../page/door.js';

export interface PacedFlags extends WatchFlags {
  /** Seconds of the run in one second. */
  speed?: number | 'max';
}

/** A reader can follow it: the agents of the shipped scenarios take seconds for a block. */
const WATCHED_SPEED = 1;

/** How long the end waits for who was made something to fetch it. */
const FETCH_MS = 2_000;

/** What looks on, and paces. */
export async function watching(
  scenario: Scenario,
  flags: PacedFlags,
  signal: AbortSignal,
): Promise<SimHooks> {
  const { madeRun, scenarioShown } = await import('../../../sim/shown/index.js');
  const { Pace } = await import('../../../sim/run/pace.js');
  const paused = flags.watch === 'paused';
  const { speed = WATCHED_SPEED } = flags;
  const control = new Pace({ paused, speed: speed === 'max' ? null : speed, signal });
  const run = madeRun(scenario);
  // A page waits for what is made beside the run, a bit each turn: so the run waits meanwhile.
  let making: () => Promise<void> | undefined = () => undefined;
  return {
    onGraph: run.hears,
    async onNetwork(network) {
      control.begin(network);
      const shown = scenarioShown(scenario, scenario.seed, network.read.position.at);
      const more = shown ? { control, run, scenario: shown } : { control, run };
      const server = await openDoor(network, flags, more);
      making = () => server.making();
      const how = paused ? 'it waits for its start there' : 'the run does not wait for it';
      const pace = speed === 'max' ? 'as fast as it can' : `at ${speed}x wall time`;
      say(`folkmoot: ${server.page} shows the run, ${pace}; ${how}`);
      return async () => {
        control.end();
        await server.close();
      };
    },
    pace(now) {
      const made = making();
      return made ? made.then(() => control.pace(now)) : control.pace(now);
    },
    async onOver() {
      const made = making();
      if (made) await made.then(() => sleep(FETCH_MS, undefined, { signal })).catch(() => {});
      const { paused: stands, until } = control.clock();
      if (stands || until !== null) say('folkmoot: the run is over, and waits: resume lets it end');
      await control.over();
    },
  };
}
