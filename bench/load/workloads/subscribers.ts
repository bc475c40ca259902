/**
 * The workload `subscribers`: each agent follows all topics on a connection of its own, and a few
 * other agents update their status. Each update accepted shall reach each subscriber, once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { authInput } from '../../../engine/protocol/signing.js';
import { AgentPool } from '../agents/agent-pool.js';
import { Statuses } from '../agents/statuses.js';
import type { LoadOptions } from '../options.js';
import { signEach } from '../prepare/requests.js';
import { eachOf } from '../server/each.js';
import { Stream } from '../server/stream.js';
import type { RunContext, Workload } from '../workload.js';
import { Deliveries } from './deliveries.js';

const topics = ['blocks', 'consensus', 'network', 'social', 'memes'];
/** Connections being opened at a time. */
const AT_A_TIME = 128;
/** Updates signed ahead for each second of a closed loop. */
const GUESS_PER_S = 1_000;
const POLL_MS = 20;

export function subscribers({ agents, rate, concurrency }: LoadOptions): Workload {
  const perS = rate ?? GUESS_PER_S;
  // Each of them has one update under way at a time.
  const updaters = Math.max(8, concurrency ?? 0, Math.min(256, Math.ceil(perS / 5)));
  let pool: AgentPool | null = null;
  let statuses: Statuses | null = null;
  let deliveries: Deliveries | null = null;
  return {
    async prepare(context, progress) {
      pool = new AgentPool(context, progress);
      await pool.gather();
      // Producers: validators who never vote would be in others' way.
      await pool.register(await pool.keys(agents + updaters), () => ['producer']);
      statuses = new Statuses(pool, {
        agents: pool.agents.slice(agents),
        perS,
        onReady: () => context.wake(),
        onCompleted: (number, { kind }) => deliveries?.completed(number, kind === 'accepted'),
      });
      deliveries = new Deliveries(agents, context);
      await follow(pool, { count: agents, mark: statuses.mark, deliveries });
      progress(`${agents} subscribers are connected`);
      await statuses.prepare();
      pool.ready();
      return { subscribers: agents };
    },
    next(intendedMs) {
      const update = statuses!.next();
      if (!update) return null;
      deliveries!.sent(update.number, intendedMs);
      return update.call;
    },
    drain: (signal) => complete(pool!.context, deliveries!, signal),
    close: async () => pool?.close(),
    signed: () => pool!.record.signed,
  };
}

/** Resolves when everybody has everything, or what is missing is late. */
async function complete(
  { now, options }: RunContext,
  deliveries: Deliveries,
  signal: AbortSignal,
): Promise<void> {
  const lateMs = now() + options.timeoutMs;
  while (!signal.aborted && now() < lateMs && deliveries.waits) await delay(POLL_MS);
  // After less time, what is missing may be under way.
  if (!signal.aborted) deliveries.finish();
}

interface Following {
  count: number;
  /** What the reasons of our updates begin with; a number follows. */
  mark: string;
  deliveries: Deliveries;
}

/** Opens a connection for each of the first agents. @throws {LoadError} when one is refused. */
async function follow(pool: AgentPool, { count, mark, deliveries }: Following): Promise<void> {
  const auths = await authsOf(pool, count);
  const { url } = pool.context.options;
  const read = readerOf(mark);
  await eachOf(auths, AT_A_TIME, async (auth, index) => {
    let receive = (_: Buffer) => {};
    const onClosed = () => deliveries.disconnected(index);
    const stream = await Stream.open({ url, auth, receive: (text) => receive(text), onClosed });
    pool.atEnd(() => stream.cut());
    await stream.expect(topics);
    // With it a subscriber gets all there is, and can tell by the numbers when one is left out.
    const numbered = (await stream.subscribe(['outcomes'])) === 'acknowledged';
    receive = (text) => {
      const { number, seq } = read(text);
      deliveries.received(index, number, numbered ? seq : null);
    };
  });
}

async function authsOf({ agents, now, signers }: AgentPool, count: number): Promise<string[]> {
  const timestamp = new Date(now()).toISOString();
  const some = agents.slice(0, count);
  const signatures = await signEach(
    signers,
    some.map(({ ordinal, publicKey }) => {
      return { agent: ordinal, input: authInput(publicKey, timestamp) };
    }),
  );
  return some.map(({ publicKey }, index) => {
    const signature = signatures[index]!;
    return JSON.stringify({ type: 'auth', public_key: publicKey, timestamp, signature });
  });
}

/** Reads an event without parsing it: there are thousands of each. */
function readerOf(mark: string) {
  const reason = Buffer.from(mark);
  const seqMember = Buffer.from('"seq":');
  return (text: Buffer) => {
    const at = text.indexOf(reason);
    // A quote within a text is escaped: this is a member's name wherever it is.
    const seqAt = text.lastIndexOf(seqMember);
    return {
      number: at < 0 ? null : integerAt(text, at + reason.length),
      seq: seqAt < 0 ? null : integerAt(text, seqAt + seqMember.length),
    };
  };
}

function integerAt(text: Buffer, from: number): number | null {
  let value = 0;
  let at = from;
  for (; text[at]! >= 0x30 && text[at]! <= 0x39; at += 1) value = value * 10 + text[at]! - 0x30;
  return at === from ? null : value;
}
