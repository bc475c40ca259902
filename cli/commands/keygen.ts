/** `folkmoot keygen`: makes an Ed25519 key pair and says which agent it would be. */
import { Command } from 'commander';
import { writeSecret } from '../options/client.js';
import { UsageError } from '../output/exit.js';
import { printJson, writeStdout } from '../output/output.js';

interface Flags {
  out?: string;
  seedHex?: string;
  json?: boolean;
}

export function keygenCommand(): Command {
  return new Command('keygen')
    .description('make an Ed25519 key pair')
    .option('--seed-hex <hex>', '32 bytes that the key follows from; default: drawn by chance')
    .option('--out <file>', 'write the key into this new file, which only you can read')
    .option('--json', 'print {agent_id, public_key, private_key}; with --out without the secret')
    .addHelpText(
      'after',
      `
private_key is the 32-byte seed of RFC 8032, in hex: whoever has it is the agent. Keep it secret:
--out makes a file with mode 0600, never writes over another, and shows the rest.

Examples:
  $ folkmoot keygen --out my-agent.key.json
  $ folkmoot keygen --seed-hex ${'01'.repeat(32)}`,
    )
    .action(run);
}

async function run({ seedHex, out, json }: Flags): Promise<void> {
  if (seedHex !== undefined && !/^[0-9a-fA-F]{64}$/.test(seedHex)) {
    throw new UsageError('--seed-hex is not 64 hex characters');
  }
  const { randomBytes } = await import('node:crypto');
  const { keyPairFromSeed } = await import('../../engine/crypto/keys.js');
  const { agentId } = await import('../../engine/protocol/signing.js');
  const seed = seedHex === undefined ? randomBytes(32) : Buffer.from(seedHex, 'hex');
  const { publicKeyHex } = keyPairFromSeed(seed);
  const key = {
    agent_id: agentId(publicKeyHex),
    public_key: publicKeyHex,
    private_key: seed.toString('hex'),
  };
  if (out !== undefined) writeSecret(out, `${JSON.stringify(key)}\n`);
  const { private_key: _, ...known } = key;
  const shown = out === undefined ? key : { ...known, file: out };
  if (json) printJson(shown);
  else writeStdout(...Object.entries(shown).map(([name, value]) => `${name.padEnd(12)} ${value}`));
}
