/**
 * The program that a front process runs. It reads and writes connections, and forwards everything
 * else to its parent over the inherited socket. It exits when the parent exits.
 */
import { Socket as Channel } from 'node:net';
import type { Listening } from '../transport/transport.js';
import { uwsTransport } from '../transport/uws-transport.js';
import { FrontApplication, type FrontSettings } from './front-application.js';
import { CHANNEL, Outgoing, receive } from './records.js';

const USAGE_MS = 1_000;

// A signal to the process group is meant for the engine's process, which stops its fronts in order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const channel = new Channel({ fd: CHANNEL });
channel.on('close', () => process.exit(0));
// A `close` event always follows.
channel.on('error', () => {});
const out = new Outgoing(channel);
let application: FrontApplication | null = null;
let listening: Listening | null = null;

receive(
  channel,
  (record) => {
    if (record.kind === 'settings') void begin(JSON.parse(record.text) as FrontSettings);
    else if (record.kind === 'stop') void stop();
    else application?.take(record);
  },
  () => application?.flush(),
);

async function begin(settings: FrontSettings): Promise<void> {
  try {
    const { host, port } = settings;
    const transport = await uwsTransport();
    if ('missing' in transport) throw new Error(transport.missing);
    application = new FrontApplication(out, settings);
    listening = await transport.listen(application, { host, port, shared: true });
    setInterval(tellUsage, USAGE_MS).unref();
    tellUsage();
    out.send('listening', 0);
  } catch (error) {
    out.send('deaf', 0, { text: (error as Error).message });
  }
}

async function stop(): Promise<void> {
  await listening?.close();
  tellUsage();
  out.flush();
  channel.end();
}

function tellUsage(): void {
  const { user, system } = process.cpuUsage();
  const usage = { cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage.rss() };
  out.send('usage', 0, { text: JSON.stringify(usage) });
}
