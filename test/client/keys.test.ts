/** The client's keys equal the engine's, and are saved and loaded as text. */
import { keyPairFromSeed } from 'folkmoot';
import { generateKeys, keysFromSeed, loadKeys, saveKeys } from 'folkmoot/client';
import { expect, test } from 'vitest';

const seed = new Uint8Array(32).fill(7);

test('keysFromSeed: gives the public key that libsodium gives', () => {
  const keys = keysFromSeed(seed);
  expect(keys.publicKey).toBe(keyPairFromSeed(seed).publicKeyHex);
  expect(keysFromSeed('07'.repeat(32))).toEqual(keys);
});

test('keysFromSeed: refuses other lengths and text that is not hex', () => {
  for (const bad of [new Uint8Array(31), '07', 'zz'.repeat(32), '']) {
    expect(() => keysFromSeed(bad)).toThrow(RangeError);
  }
});

test('saveKeys: round-trips with loadKeys', () => {
  const keys = generateKeys();
  expect(generateKeys()).not.toEqual(keys);
  expect(loadKeys(saveKeys(keys))).toEqual(keys);
  expect(Object.keys(JSON.parse(saveKeys(keys)))).toEqual([
    'agent_id',
    'public_key',
    'private_key',
  ]);
  expect(loadKeys(JSON.stringify({ private_key: keys.privateKey.toUpperCase() }))).toEqual(keys);
});

test('loadKeys: refuses invalid text without echoing the secret', () => {
  const { publicKey } = keysFromSeed(seed);
  const secret = '0a'.repeat(32);
  const texts = [
    secret,
    'null',
    '{}',
    `{"private_key":"${secret}`,
    JSON.stringify({ private_key: secret.slice(1) }),
    JSON.stringify({ private_key: secret, public_key: publicKey }),
  ];
  for (const text of texts) {
    let message = '';
    try {
      loadKeys(text);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      message = (error as Error).message;
    }
    expect(message).toMatch(/^keys: /);
    expect(message).not.toContain(secret.slice(0, 8));
  }
});
