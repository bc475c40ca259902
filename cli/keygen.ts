/** `folkmoot keygen`: makes an Ed25519 key pair and says which agent it would be. */
import { Command } from 'commander';
import { UsageError } from './exit.js';

interface Flags {
  seedHex?: string;
  json?: boolean;
}

export function keygenCommand(): Command {
  return new Command('keygen')
    .description('make an Ed25519 key pair')
    .option('--seed-hex <hex>', '32 bytes that the key follows from; default: drawn by chance')
    .option('--json', 'print {agent_id, public_key, private_key}')
    .addHelpText(
      'after',
      `
private_key is the 32-byte seed of RFC 8032, in hex: whoever has it is the agent. Keep it secret.

Examples:
  $ folkmoot keygen --json > my-agent.json
  $ folkmoot keygen --seed-hex ${'01'.repeat(32)}`,
    )
    .action(run);
}

async function run({ seedHex, json }: Flags): Promise<void> {
  if (seedHex !== undefined && !/^[0-9a-fA-F]{64}$/.test(seedHex)) {
    throw new UsageError('--seed-hex is not 64 hex characters');
  }
  const { randomBytes } = await import('node:crypto');
  const { keyPairFromSeed } = await import('../engine/index.js');
  const { agentId } = await import('../engine/signing.js');
  const seed = seedHex === undefined ? randomBytes(32) : Buffer.from(seedHex, 'hex');
  const { publicKeyHex } = keyPairFromSeed(seed);
  const key = {
    agent_id: agentId(publicKeyHex),
    public_key: publicKeyHex,
    private_key: seed.toString('hex'),
  };
  const lines = Object.entries(key).map(([name, value]) => `${name.padEnd(12)} ${value}`);
  process.stdout.write(`${json ? JSON.stringify(key) : lines.join('\n')}\n`);
}
