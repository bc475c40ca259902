/** Mutation test: the swarm of simulated clusters finds each bug that is seeded in its code. */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { folkmoot } from '../../support/cli.js';
import { full } from '../../support/counts.js';
import { type Edit, mutant } from './mutant.js';

const execute = promisify(execFile);

/** Files in dist. */
const appender = 'cluster/node/appender.js';
const order = 'cluster/order/etcd.js';
const follower = 'cluster/node/follower.js';
const node = 'cluster/node/node.js';
const ticker = 'cluster/node/ticker.js';
const members = 'cluster/node/members.js';
const client = 'cluster/etcd/client.js';
const giver = 'cluster/peer/give.js';
const taker = 'cluster/peer/take.js';
const catchUp = 'cluster/peer/catch-up.js';

/**
 * Bugs as edits: the file, the text that it contains once, and the text instead. Where two guards
 * keep one promise, a bug removes both.
 */
const bugs: Readonly<Record<string, readonly Edit[]>> = {
  'a batch is confirmed before etcd has it': [
    [appender, 'await order.append(batch);', 'void order.append(batch).catch(() => {});'],
  ],
  'requests that were sent wait as well': [
    [appender, 'splice(0, asked.length)', 'splice(0, Math.max(0, asked.length - 1))'],
  ],
  'the callers of a batch get its results in reverse': [
    [appender, 'applied[index] })', 'applied[applied.length - 1 - index] })'],
  ],
  'a batch is sent before the last one is confirmed': [
    [appender, 'await this.#append(this.#next());', 'void this.#append(this.#next());'],
  ],
  'requests in flight are refused as not sent': [
    [
      appender,
      'this.#giveUp(asked, uncertain());\n        const cutOffMs',
      "this.#giveUp(asked, refuse('ORDER_TIMEOUT'));\n        const cutOffMs",
    ],
  ],
  'a barrier waits for nothing': [
    [
      appender,
      'if (!wanted && this.#barrier)\n            return this.#barrier.settled;',
      'if (!wanted)\n            return Promise.resolve({ applied: null });',
    ],
  ],
  'a node that is cut off accepts requests': [
    [appender, 'if (cutOffMs > 0)\n            return noQuorum(cutOffMs);', ''],
    [appender, 'cutOffMs > 0 || at < oldest', 'at < oldest'],
  ],
  'a full etcd stops a node': [
    [appender, "(code === 'UNAVAILABLE' || code === 'FULL')", "code === 'UNAVAILABLE'"],
  ],
  'batches of an earlier process count as own': [
    [appender, 'if (!sent || batch.incarnation !== this.#options.incarnation)', 'if (!sent)'],
    [appender, 'return isSame ?', 'return true ?'],
  ],
  'the name does not advance': [[order, 'const after = `', 'const after = before; void `']],
  'a batch is put though another process has the name': [
    [order, "if: [{ key: name, is: '=', value: before }, ...holds]", 'if: [...holds]'],
  ],
  'a node does not notice that its name is taken': [
    [order, 'before)\n                throw fenced(node);', 'before)\n                return;'],
    [order, 'if (!succeeded || !isOurs)', 'if (!succeeded)'],
  ],
  'an append that etcd refuses counts as done': [
    [order, 'if (last === after)\n                return;', 'return;'],
  ],
  'a node follows from the batch after the next': [
    [order, 'from: from.revision + 1', 'from: from.revision + 2'],
  ],
  'gaps in the order are skipped': [
    [order, 'from: from.revision + 1', 'from: from.revision + 2'],
    [follower, 'if (position.version > version + 1) {', 'if (false) {'],
    [follower, 'return position.version === version + 1;', 'return position.version > version;'],
    [node, 'assertInvariant(position.version === version + 1,', 'void (position.version,'],
  ],
  'nodes found the network again': [[order, "if: [{ key, is: '=', version: 0 }],", 'if: [],']],
  'a repeated batch is applied again': [
    [follower, 'position.version === version + 1;', 'position.version <= version + 1;'],
  ],
  'a node gives up after a broken stream': [
    [
      follower,
      'if (!passing && !(error instanceof Gap))',
      'if (passing) return; if (!(error instanceof Gap))',
    ],
  ],
  'time is that of the own clock': [
    [node, 'Math.max(this.#mark.time, batch.stamp)', 'Math.max(this.#mark.time, this.#time.now())'],
  ],
  'time goes back to the stamp of a batch': [
    [node, 'const time = Math.max(this.#mark.time, batch.stamp);', 'const time = batch.stamp;'],
  ],
  'stamps are zero': [
    [node, 'const stamp = this.#refuseClock() ? 0 : this.#time.now();', 'const stamp = 0;'],
  ],
  'a wrong clock stamps batches': [
    [node, 'stamp = this.#refuseClock() ? 0 : this.#time.now();', 'stamp = this.#time.now();'],
  ],
  'a clock that jumps is noticed a minute later': [
    [members, 'difference: at - wall', 'difference: this.host.now() - wall'],
    [members, 'const own = this.host.now() - now;', 'const own = 0;'],
  ],
  'the requests of a batch are applied in reverse': [
    [node, '(one) => one.verified);', '(one) => one.verified); if (!isOwn) verified.reverse();'],
  ],
  'a card tells what is applied, not what is stored': [
    [node, 'order } = this.#inner.read.stored;', 'order } = this.#inner.read.position;'],
  ],
  'a node applies the last batch again after a restart': [
    [
      node,
      'this.#mark = inner.read.position.order;',
      'const last = inner.read.position.order; this.#mark = { ...last, ' +
        'version: Math.max(0, last.version - 1), revision: Math.max(0, last.revision - 1) };',
    ],
  ],
  'a node serves before it has read the order': [
    [node, "await waitFor(this.#states, (now) => !now.matches('catchingUp'));", ''],
    [node, 'await this.#members.greet();', 'void this.#members.greet();'],
  ],
  'no node passes a deadline': [[ticker, 'if (due !== null && due < now())', 'if (due === 0)']],
  'only the first node in rank passes a deadline': [
    [ticker, 'due !== null && due < now()', 'due !== null && due < now() && this.#rank(due) === 0'],
  ],
  'nodes delete what others need': [
    [
      ticker,
      'first(cards.map(({ position }) => position))',
      'first(cards.filter((one) => one.node === this.options.node).map((one) => one.position))',
    ],
  ],
  'a node is never cut off': [
    [members, 'return now - since > bounds.cutOffMs ? now - since : 0;', 'return 0;'],
  ],
  'nodes count as alive forever': [[members, '(at > oldest ? [name] : [])', '[name]']],
  'no other node counts as alive': [[members, '(at > oldest ? [name] : [])', '[]']],
  'the end of the order is compared with later batches': [
    [members, 'order.announce(card()), before);', 'order.announce(card()), applied());'],
  ],
  'reads of one member are trusted': [[client, 'serializable = false }', 'serializable = true }']],
  'a silent stream is not noticed': [
    [client, 'if (this.#inVain > SIGNS.inVain)', 'if (false)'],
    [node, 'this.#follower?.restart();', ';'],
  ],
  'the next member is not tried': [
    [client, 'this.#picker.now())', 'this.#picker.now().slice(0, 1))'],
    [client, 'this.#first = this.#from(member + 1)[0].at;', ';'],
  ],
  'an interrupted snapshot keeps its place': [[giver, 'this.#giving -= 1;', '']],
  'a node proves a request with the same number again': [
    [taker, 'const nonce = options.newId();', 'const nonce = node;'],
  ],
  'a node asks one peer only': [[catchUp, 'reasons.push(', 'throw error; reasons.push(']],
  'a watch of deleted batches waits': [[client, 'if (!canceled)\n        return;', 'return;']],
};

const MOST_SEEDS = 1_000;

/** Runs clusters of a copy of the package until one fails. Prints its seed and the kind. */
const untilFailure = (folder: string) => `
const { drawClusterPlan } = await import('${folder}/cluster-plan.js');
const { runCluster } = await import('${folder}/cluster-world.js');
for (let seed = 1; seed <= ${MOST_SEEDS}; seed += 1) {
  const { failure } = await runCluster(drawClusterPlan(seed));
  if (!failure) continue;
  console.log(JSON.stringify({ seed, kind: failure.kind }));
  process.exit();
}
process.exit(1);`;

const named = Object.entries(bugs).map(([name, edits]) => ({ name, edits }));
const chosen = full ? named : named.filter((_, index) => index % 10 === 0);
test.each(chosen)('clusters: find the bug that $name', async ({ edits }) => {
  const script = untilFailure(join(dirname(mutant(...edits)), '../sim/swarm'));
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', script]);
  const { kind, seed } = JSON.parse(stdout) as { seed: number; kind: string };
  expect(['safety', 'liveness', 'crash'], `at seed ${seed}`).toContain(kind);
});

test('clusters: end the process if a step of a cluster does not end', async () => {
  const program = mutant([
    members,
    'await sleep(this.options.host, bounds.cardMs,',
    'for (;;) await (0,',
  ]);
  expect(await folkmoot(['swarm', '--cluster', '--seeds', '1'], { program })).toMatchObject({
    signal: 'SIGKILL',
    stderr: expect.stringMatching(/cluster 1 has not/),
  });
});
