/** `folkmoot keygen`: random keys and keys from a seed. */
import { keyPairFromSeed } from 'folkmoot';
import { readVectors } from '../../engine/crypto/verifiers.js';
import { folkmoot } from '../../support/cli.js';
import { linesOf } from '../../support/runs.js';

interface Vectors {
  public_key: string;
  agent_id: string;
}
interface Key {
  agent_id: string;
  public_key: string;
  private_key: string;
}

const seed = '01'.repeat(32);
const keygen = async (...args: string[]) => {
  const { code, stdout, stderr } = await folkmoot(['keygen', ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

test('keygen --seed-hex: gives the key and agent of the signing vectors', async () => {
  const { public_key, agent_id } = await readVectors<Vectors>('signing.json');
  const stdout = await keygen('--seed-hex', seed, '--json');
  expect(linesOf(stdout)).toHaveLength(1);
  expect(JSON.parse(stdout)).toEqual({ agent_id, public_key, private_key: seed });
});

test('keygen: prints one line per value, and accepts upper-case hex', async () => {
  const { public_key, agent_id } = await readVectors<Vectors>('signing.json');
  const words = linesOf(await keygen('--seed-hex', seed)).map((line) => line.split(/ +/));
  expect(words).toEqual([
    ['agent_id', agent_id],
    ['public_key', public_key],
    ['private_key', seed],
  ]);
  const upper = JSON.parse(await keygen('--seed-hex', 'AB'.repeat(32), '--json')) as Key;
  expect(upper.private_key).toBe('ab'.repeat(32));
});

test('keygen: draws a new key pair each time', async () => {
  const draw = async () => JSON.parse(await keygen('--json')) as Key;
  const [one, other] = await Promise.all([draw(), draw()]);
  expect(one.private_key).not.toBe(other.private_key);
  expect(keyPairFromSeed(Buffer.from(one.private_key, 'hex')).publicKeyHex).toBe(one.public_key);
});
