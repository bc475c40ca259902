/** A decider that is a program: one process or several, each started when it is first asked. */
import { type Door, NoAnswer } from './door.js';
import { DeciderProcess, type Program } from './process.js';

export interface ExecOptions extends Program {
  processes: number;
  atOnce: number;
}

export function execDoor({ processes, atOnce, ...program }: ExecOptions): Door {
  const running: (DeciderProcess | undefined)[] = [];
  const at = (lane: number): DeciderProcess => {
    const there = running[lane];
    if (there && !there.over) return there;
    const started = new DeciderProcess(program);
    running[lane] = started;
    return started;
  };
  return {
    lanes: processes,
    atOnce,
    async ask(question, lane, signal) {
      const process = at(lane);
      let stop = () => {};
      const given = new Promise<never>((_, reject) => {
        stop = () => reject(new NoAnswer('timeout', 'it was given up'));
        signal.addEventListener('abort', stop, { once: true });
      });
      try {
        return await Promise.race([process.ask(question), given]);
      } catch (error) {
        process.giveUp(question.id);
        // It may hang: whoever is asked next gets a new one.
        if (signal.aborted && process.asked === 0) process.kill();
        throw error;
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
    async close() {
      await Promise.all(running.map((one) => one?.close()));
    },
  };
}
