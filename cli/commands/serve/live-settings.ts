/**
 * Settings that can change while the server runs: the log level and the rate limits. SIGHUP reads
 * the configuration file and --limits-file again. A file with a problem changes nothing.
 */
import type { Logger } from 'pino';
import type { Exchange, LimitName, Profile, Server } from '../../../api/index.js';
import type { Network } from '../../../engine/node/network.js';
import { parseUnique } from '../../../engine/protocol/repeated-members.js';
import { keyOf, type Setting, type Settings, shownValue } from '../../options/config.js';
import { UsageError } from '../../output/exit.js';

interface LiveFlags {
  limits: Profile;
  limitsFile?: string;
  logLevel: string;
}

interface Live {
  settings: Settings;
  server: Server;
  network: Network;
  log: Logger;
}

/** Keys of the options that a reload applies. */
const reloaded: ReadonlySet<string> = new Set(['limits', 'limits_file', 'log_level']);

/** Logs blocks at `debug`. Reads settings again on SIGHUP, if they come from a file. */
export async function startLiveSettings(live: Live): Promise<void> {
  const blocks = new BlockLog(live.log, live.network);
  blocks.follow();
  const flags = live.settings.flags as LiveFlags;
  // Without a file, SIGHUP keeps its usual meaning: the terminal is gone.
  if (live.settings.file === null && flags.limitsFile === undefined) return;
  let { settings } = live;
  let figures = await figuresOf(flags);
  const reload = async () => {
    const next = await settings.again();
    const nextFigures = await figuresOf(next.flags as LiveFlags);
    apply({ ...live, settings }, next, { figures, nextFigures });
    blocks.follow();
    [settings, figures] = [next, nextFigures];
  };
  let last = Promise.resolve();
  process.on('SIGHUP', () => {
    last = last.then(reload).catch((error: Error) => {
      live.log.error(`${error.message}; the server continues with its previous configuration`);
    });
  });
}

const figuresOf = async ({ limitsFile: path }: LiveFlags): Promise<OwnLimits> =>
  path === undefined ? {} : readLimits(path);

/** @throws {UsageError} if limits would be switched on or off. Nothing has changed then. */
function apply(
  { settings, server, log }: Live,
  next: Settings,
  { figures, nextFigures }: { figures: OwnLimits; nextFigures: OwnLimits },
): void {
  const [old, now] = [settings.flags as LiveFlags, next.flags as LiveFlags];
  if ((old.limits === 'off') !== (now.limits === 'off')) {
    const { place } = next.all.find(({ key }) => key === 'limits')!;
    const problem = 'limits cannot be switched on or off while serving; restart the server';
    throw new UsageError('CONFIG_AT', { place: place ?? '--limits', problem });
  }
  const changed = changesOf(settings, next);
  const byFigure = figureChanges(figures, nextFigures);
  if (now.limits !== 'off') server.changeLimits(now.limits, nextFigures);
  log.level = now.logLevel;
  server.observe(exchangeLog(log));
  const live = changed.filter(({ key }) => reloaded.has(key));
  log.info({ changed: [...live, ...byFigure] }, 'configuration reloaded');
  const restart = changed.map(({ key }) => key).filter((key) => !reloaded.has(key));
  if (restart.length > 0) log.warn({ keys: restart }, 'restart the server to apply these changes');
}

interface Change {
  key: string;
  from: unknown;
  to: unknown;
}

function changesOf(old: Settings, next: Settings): Change[] {
  const shown = (setting: Setting) => JSON.stringify(shownValue(setting));
  return next.all.flatMap((setting, index) => {
    const before = old.all[index]!;
    if (shown(before) === shown(setting)) return [];
    return [
      { key: keyOf(setting.option), from: shownValue(before), to: shownValue(setting) },
    ] satisfies Change[];
  });
}

function figureChanges(old: OwnLimits, next: OwnLimits): Change[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])] as LimitName[];
  return names
    .filter((name) => old[name] !== next[name])
    .map((name) => ({
      ...{ key: `limits_file.${name}`, from: old[name] ?? null, to: next[name] ?? null },
    }));
}

/** Returns a logger of requests at `debug`, with durations at `trace`; null at other levels. */
export function exchangeLog(log: Logger): ((exchange: Exchange) => void) | null {
  if (!log.isLevelEnabled('debug')) return null;
  const timed = log.isLevelEnabled('trace');
  return ({ ms, code, reason, message, ...exchange }) => {
    const time = timed ? { ms } : {};
    if (exchange.status < 400) log.debug({ ...exchange, ...time }, 'request');
    else log.debug({ ...exchange, ...time, code, reason, why: message }, 'refused');
  };
}

/** Logs each proposal and outcome at `debug`. */
class BlockLog {
  #following = false;

  constructor(
    private readonly log: Logger,
    private readonly network: Network,
  ) {}

  /** Starts to follow the network if the level asks for it. */
  follow(): void {
    if (this.#following || !this.log.isLevelEnabled('debug')) return;
    this.#following = true;
    this.#run().catch((error) => this.log.error(error, 'block logging stopped'));
  }

  async #run(): Promise<void> {
    for await (const { type, data, seq } of this.network.follow()) {
      if (type === 'block_proposal') {
        const { block_hash, height, producer } = data;
        this.log.debug({ seq, block_hash, height, producer: producer.id }, 'block proposed');
      } else if (type === 'block_status') {
        const { block_hash, height, status } = data;
        this.log.debug({ seq, block_hash, height, status }, `block ${status}`);
      }
    }
  }
}

type OwnLimits = Partial<Record<LimitName, number>>;

const MOST_LIMIT = Number.MAX_SAFE_INTEGER;

/** Reads the limits from --limits-file. @throws {UsageError} */
export async function readLimits(path: string): Promise<OwnLimits> {
  const { limitNames } = await import('../../../api/index.js');
  const { fileBounds, readBounded } = await import('../../../engine/store/folder.js');
  const bad = (problem: string) =>
    new UsageError('INVALID_ARGUMENT', { option: '--limits-file', value: path, problem });
  let parsed: unknown;
  try {
    parsed = parseUnique(readBounded(path, fileBounds.text).toString());
  } catch (error) {
    const { describeSystemError } = await import('../../../engine/protocol/messages.js');
    throw bad(describeSystemError(error));
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw bad('expected an object such as {"vote": 20}');
  }
  for (const [name, figure] of Object.entries(parsed)) {
    if (!(limitNames as readonly string[]).includes(name)) {
      throw bad(`unknown limit: ${name} (expected one of ${limitNames.join(', ')})`);
    }
    if (!Number.isInteger(figure) || figure < 1 || figure > MOST_LIMIT) {
      throw bad(`invalid ${name} (expected a whole number from 1 to ${MOST_LIMIT})`);
    }
  }
  return parsed as OwnLimits;
}
