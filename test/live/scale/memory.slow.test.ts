/** Cost of idle subscribers. The test prints the cost and checks the order of magnitude. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { counts } from '../../support/counts.js';
import { openFiles, processorTicks, residentBytes } from '../../support/host.js';
import { Assembly } from '../clients/assembly.js';
import { everyTopic } from '../clients/subscriber.js';
import { Transcript } from '../clients/transcript.js';

/** Limit far above the cost of one subscriber, to detect large data retained per subscriber. */
const MOST_BYTES = 256 * 1024;

test.skipIf(counts.idleSubscribers === 0).each(['uws', 'node'])(
  `memory: ${counts.idleSubscribers} idle subscribers take under 256 KiB each over %s`,
  async (transport) => {
    const assembly = await Assembly.open(transport, counts.idleSubscribers / 4);
    const { pid } = assembly.server;
    const transcript = new Transcript(everyTopic);
    const heapBytes = () => assembly.metric('nodejs_heap_size_used_bytes');
    const before = [residentBytes(pid), await heapBytes(), openFiles(pid)] as const;
    await assembly.watch(counts.idleSubscribers, transcript);
    const after = [residentBytes(pid), await heapBytes(), openFiles(pid)] as const;
    expect(after[2] - before[2]).toBeGreaterThanOrEqual(counts.idleSubscribers);
    const each = (index: 0 | 1) => (after[index] - before[index]) / counts.idleSubscribers;
    assembly.caller.close();

    const ticks = processorTicks(pid);
    const start = performance.now();
    await sleep(1_000);
    const spent = 10 * (processorTicks(pid) - ticks);
    process.stdout.write(
      `memory: over ${transport}, ${counts.idleSubscribers} idle subscribers take ` +
        `${Math.round(each(0))} bytes resident and ${Math.round(each(1))} of heap each, and ` +
        `${spent} ms of processor in ${Math.round(performance.now() - start)} ms\n`,
    );
    expect(each(0)).toBeLessThan(MOST_BYTES);
  },
);
