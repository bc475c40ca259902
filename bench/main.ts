/** `npm run bench`: how fast each part is on this machine, beside R, which is libsodium alone. */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { agentBytes, engineRate, signedRate } from './cases.js';
import { rawVerifications } from './raw.js';
import { simulatedMemory, simulatedRate, startUp } from './simulator.js';

const sizes = {
  small: { rounds: 3, blocks: 15, largeBlocks: 2, agents: 20_000, simulated: 20_000 },
  large: { rounds: 5, blocks: 60, largeBlocks: 6, agents: 100_000, simulated: 100_000 },
} as const;

const usage = `npm run bench -- [--size small|large]

Prints medians over several rounds; each round measures R first, so that a machine whose speed
moved is told from code that did.
`;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

async function main(args: readonly string[]): Promise<void> {
  const at = args.indexOf('--size');
  const size = at < 0 ? 'small' : args[at + 1];
  if (size !== 'small' && size !== 'large') {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  const { rounds, blocks, largeBlocks, agents, simulated } = sizes[size];
  const machine = `${cpus().length} x ${cpus()[0]?.model}`;
  print(`${machine}, node ${process.version}, commit ${commit()}, size ${size}`);
  const seen: Record<string, number>[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const r = rawVerifications();
    const thousand = await engineRate(1_000, blocks);
    const tenThousand = await engineRate(10_000, largeBlocks);
    const signed = await signedRate(1_000, blocks);
    const few = await simulatedRate(100, 20 * blocks);
    const many = await simulatedRate(10_000, 5 + largeBlocks);
    seen.push({
      'R, libsodium verifications/s': r,
      'engine, 1,000 validators, votes/s': thousand,
      '  of R': thousand / r,
      'engine, 10,000 validators, votes/s': tenThousand,
      '  of 1,000': tenThousand / thousand,
      'signed, pool of 2, LMDB, votes/s': signed.votesPerSecond,
      '  of R ': signed.votesPerSecond / r,
      'disk, bytes/vote': signed.bytesPerVote,
      'simulated, 10,000 agents, votes/s': many,
      '  of R  ': many / r,
      '  of 100 agents': many / few,
      'start of 100 agents, of node -e 0': await startUp(),
    });
    print(`round ${round} of ${rounds} done`);
  }
  for (const name of Object.keys(seen[0]!)) {
    const value = median(seen.map((row) => row[name]!));
    const text = value < 100 ? value.toFixed(2) : Math.round(value).toLocaleString('en-US');
    print(`${name.padEnd(38)} ${text.padStart(12)}`);
  }
  const bytes = Math.round(await agentBytes(agents));
  const name = `memory, bytes/agent of ${agents}`;
  print(`${name.padEnd(38)} ${bytes.toLocaleString('en-US').padStart(12)}`);
  const peak = Math.round((await simulatedMemory(simulated)) / 2 ** 20);
  print(`${`simulated, ${simulated} agents, MiB`.padEnd(38)} ${String(peak).padStart(12)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main(process.argv.slice(2));
