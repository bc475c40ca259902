/**
 * Notifications to systemd, for units with Type=notify: ready, stopping, and the watchdog. Node.js
 * has no Unix datagram sockets, so systemd's own program `systemd-notify` sends the messages. The
 * watchdog's message comes from the event loop, so systemd restarts a server whose event loop
 * hangs.
 */
import { execFile } from 'node:child_process';

interface Unit {
  env: NodeJS.ProcessEnv;
  pid: number;
  warn(line: string): void;
}

/** Time limit for one message. */
const SEND_MS = 5_000;

export class UnitNotifier {
  readonly #unit: Unit;
  #watchdog: NodeJS.Timeout | undefined;
  #isWarned = false;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  async ready(url: string): Promise<void> {
    await this.#send('--ready', `--status=listening at ${url}`);
    const everyMs = watchdogMs(this.#unit);
    if (everyMs === null) return;
    this.#watchdog = setInterval(() => void this.#send('WATCHDOG=1'), everyMs);
    this.#watchdog.unref();
  }

  stopping(): Promise<void> {
    clearInterval(this.#watchdog);
    return this.#send('STOPPING=1');
  }

  /** Never rejects. Warns about the first failure. */
  #send(...messages: string[]): Promise<void> {
    const { env, pid, warn } = this.#unit;
    return new Promise((resolve) => {
      const named = [`--pid=${pid}`, ...messages];
      execFile('systemd-notify', named, { env, timeout: SEND_MS }, (error) => {
        if (error && !this.#isWarned) warn(`systemd-notify failed: ${error.message.trim()}`);
        this.#isWarned ||= error !== null;
        resolve();
      });
    });
  }
}

/** Returns half of the watchdog's limit, or null if the unit has no watchdog for this process. */
function watchdogMs({ env, pid }: Unit): number | null {
  const limitMs = Number(env.WATCHDOG_USEC) / 1_000;
  if (!(limitMs >= 2)) return null;
  if (env.WATCHDOG_PID !== undefined && Number(env.WATCHDOG_PID) !== pid) return null;
  return limitMs / 2;
}
