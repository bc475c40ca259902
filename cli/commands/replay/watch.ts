/** `folkmoot replay --watch`: the page of a folder while its log is recomputed. */
import { KeptNetwork, type ReplayResult } from '../../../engine/internal.js';
import { say } from '../../output/output.js';
import { openDoor } from '../page/door.js';
import type { Flags, WatchedOptions } from './flags.js';
import { WatchedReplay } from './watched-replay.js';

export interface Watched {
  /** Shows what comes of it: `recompute` is given what the page takes part with. */
  replay(recompute: (watch: WatchedOptions) => Promise<ReplayResult>): Promise<ReplayResult>;
  close(): Promise<void>;
}

/** Serves the page of the folder at `path`; `signal` ends a replay that is under way. */
export async function openWatched(
  path: string,
  flags: Flags,
  signal: AbortSignal,
): Promise<Watched> {
  // Whoever looks for what is damaged wants to see it.
  const network = KeptNetwork.open({
    path,
    whole: false,
    onLost(why) {
      say(`folkmoot: ${why}`);
      control?.lose(why);
    },
  });
  let control: WatchedReplay | null = null;
  try {
    const end = network.read.position;
    const to = Math.min(flags.to ?? end.seq, end.seq);
    const signatures = flags.signatures === true;
    const paused = flags.watch === 'paused';
    const how = { end: to, signatures, paused, signal };
    const shown = new WatchedReplay(network.read, how);
    control = shown;
    const server = await openDoor(network, flags, { control: shown, proof: () => shown.proof });
    say(`folkmoot: ${server.page} shows ${path} while it is recomputed`);
    return {
      async replay(recompute) {
        try {
          const result = await recompute({ onStep: shown.step, paced: shown.paced });
          shown.finished(result);
          return result;
        } catch (error) {
          shown.failed(error as Error);
          throw error;
        }
      },
      async close() {
        await server.close();
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}
