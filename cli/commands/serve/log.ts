/** What `folkmoot serve` logs: JSON lines on standard error, and on a terminal one line to read. */
import type { Logger } from 'pino';
import type { Exchange, ServerOptions } from '../../../api/index.js';
import type { Network } from '../../../engine/internal.js';
import { escaped, say } from '../../output/output.js';

export async function openLog(level: string): Promise<Logger> {
  const { pino } = await import('pino');
  const output = pino.destination({ dest: 2, sync: true });
  return pino({ level }, { write: (text) => output.write(`${escaped(text.trimEnd())}\n`) });
}

/** Each request at `debug`, with its time at `trace`; otherwise nothing is listened to. */
export function exchangeLog(log: Logger): Pick<ServerOptions, 'onExchange'> {
  if (!log.isLevelEnabled('debug')) return {};
  const timed = log.isLevelEnabled('trace');
  return {
    onExchange({ ms, code, reason, message, ...exchange }: Exchange) {
      const time = timed ? { ms } : {};
      if (exchange.status < 400) log.debug({ ...exchange, ...time }, 'request');
      else log.debug({ ...exchange, ...time, code, reason, why: message }, 'refused');
    },
  };
}

/** Each block, when it opens and when it is decided, at `debug`. */
export async function logBlocks(log: Logger, network: Network): Promise<void> {
  if (!log.isLevelEnabled('debug')) return;
  for await (const { type, data, seq } of network.follow()) {
    if (type === 'block_proposal') {
      const { block_hash, height, producer } = data;
      log.debug({ seq, block_hash, height, producer: producer.id }, 'block proposed');
    } else if (type === 'block_status') {
      const { block_hash, height, status } = data;
      log.debug({ seq, block_hash, height, status }, `block ${status}`);
    }
  }
}

export interface Listening {
  url: string;
  ws_url: string;
  network_id: string;
  folder: string;
  transport: string;
  limits: string;
}

/** On a terminal, in words: who starts a server by hand wants to know where and what it is. */
export function tellListening(
  log: Logger,
  page: string | null,
  { url, network_id, ...more }: Listening,
): void {
  if (!process.stderr.isTTY || !log.isLevelEnabled('info')) {
    log.info({ url, network_id, ...more }, 'listening');
    return;
  }
  const { folder, transport, limits } = more;
  const look = page === null ? '' : `${page} to look at it, `;
  say(
    `folkmoot: ${url} serves ${network_id}, kept in ${folder} (transport ${transport}, limits ` +
      `${limits}); ${look}${url}/docs to read, Ctrl+C to stop`,
  );
}
