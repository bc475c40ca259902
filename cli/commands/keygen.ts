import { writeSecret } from '../options/client.js';
import { CliCommand } from '../options/options.js';
import { UsageError } from '../output/exit.js';
import { printJson, writeStdout } from '../output/output.js';

interface Flags {
  out?: string;
  seedHex?: string;
  json?: boolean;
}

export function keygenCommand(): CliCommand {
  return new CliCommand('keygen')
    .description('generate an Ed25519 key pair')
    .option('--seed-hex <hex>', '32-byte seed in hex (default: random)')
    .option('--out <file>', 'new key file to write (mode 0600)')
    .option('--json', 'print one JSON object')
    .explain({
      notes: `
private_key is the 32-byte seed of RFC 8032 in hex. Keep it secret: it controls
the agent. With --out, only the file contains it.`,
      examples: [
        'keygen --out ada.key.json',
        'keygen --json',
        'keygen --seed-hex "$(openssl rand -hex 32)"',
      ],
    })
    .action(run);
}

async function run({ seedHex, out, json }: Flags): Promise<void> {
  if (seedHex !== undefined && !/^[0-9a-fA-F]{64}$/.test(seedHex)) {
    throw new UsageError('INVALID_OPTION', { option: '--seed-hex', expected: '64 hex characters' });
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
