/** Tests signature checks in Chromium against published vectors. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { keyPairFromSeed } from '../../../dist/engine/crypto/keys.js';
import { origin } from '../../client/bundle.js';
import { groupOrder, joinSignature, oddEncodings } from '../../engine/crypto/points.js';
import { readVectors } from '../../engine/crypto/verifiers.js';
import { browserTest, useBrowser } from '../../support/browser.js';
import { newTab } from '../browser.js';

/** Test case: key, message and signature in hex, and the expected verdict. */
type Case = [key: string, message: string, signature: string, valid: boolean];

const hex = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('hex');

async function published(): Promise<Case[]> {
  type Rfc = { pub: string; msg: string; sig: string };
  const rfc = await readVectors<Rfc[]>('rfc8032_ed25519.json');
  type Vector = { msg: string; sig: string; result: string };
  type File = { testGroups: { publicKey: { pk: string }; tests: Vector[] }[] };
  const wycheproof = await readVectors<File>('wycheproof_ed25519_test.json');
  type Signed = { signing_input: string; signature: string; sender?: string };
  const signing = await readVectors<Record<string, string | Signed>>('signing.json');
  const own = Object.values(signing).filter((entry) => typeof entry !== 'string');
  return [
    ...rfc.map(({ pub, msg, sig }): Case => [pub, msg, sig, true]),
    ...wycheproof.testGroups.flatMap(({ publicKey: { pk }, tests }) =>
      tests.map(({ msg, sig, result }): Case => [pk, msg, sig, result === 'valid']),
    ),
    ...own.map(({ signing_input, signature, sender = String(signing.public_key) }): Case => {
      return [sender, hex(signing_input), signature, true];
    }),
  ];
}

/**
 * Returns keys and commitments that are of small order or non-canonical, and scalars beyond the
 * order.
 */
function odd(): Case[] {
  const { publicKey } = keyPairFromSeed(new Uint8Array(32).fill(3));
  const keys = [...oddEncodings, publicKey];
  const scalars = [0n, 1n, groupOrder - 1n, groupOrder];
  return keys.flatMap((key) =>
    [...oddEncodings.slice(0, 12), ...oddEncodings.slice(-3)].flatMap((commitment) =>
      scalars.map((scalar): Case => {
        const signature = joinSignature(commitment, scalar);
        return [hex(key), hex('odd'), hex(signature), false];
      }),
    ),
  );
}

let script = '';
useBrowser(async () => {
  const contents = `export { webVerifierName } from './dist/engine/crypto/webcrypto.js';
    export { holds } from './ui/verify/block.ts';`;
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    ...{ bundle: true, platform: 'browser', format: 'iife', globalName: 'folkmoot', write: false },
    // The vectors are bytes, but the page verifies text.
    define: { TextEncoder: 'HexEncoder' },
    banner: {
      js: `class HexEncoder { encode(text) { return /^([0-9a-f]{2})*$/.test(text) ?
      Uint8Array.from(text.match(/../g) ?? [], (two) => Number.parseInt(two, 16)) :
      new globalThis['TextEncoder']().encode(text); } }`,
    },
    logLevel: 'silent',
  });
  script = outputFiles[0]!.text;
});

interface Bundled {
  webVerifierName(): Promise<string>;
  holds(input: string, key: string, signature: string): Promise<boolean>;
}

/**
 * Runs in the page. Returns the verdicts, the implementation, and the number of WebCrypto calls.
 */
async function verdictsHere(cases: readonly Case[]) {
  const { webVerifierName, holds } = (globalThis as unknown as { folkmoot: Bundled }).folkmoot;
  const by = await webVerifierName();
  let asked = 0;
  const { subtle } = globalThis.crypto;
  const verify = subtle?.verify;
  if (verify) {
    subtle.verify = (...all: Parameters<typeof verify>) => {
      asked += 1;
      return verify.apply(subtle, all);
    };
  }
  const verdicts: boolean[] = [];
  for (const [key, message, signature] of cases) {
    verdicts.push(await holds(message, key, signature));
  }
  if (verify) subtle.verify = verify;
  return { by, verdicts, asked };
}

browserTest.each(['WebCrypto', 'reference'])('verdicts: equal the vectors with %s', async (by) => {
  const tab = await newTab();
  if (by === 'reference') {
    await tab.addInitScript(() => Object.defineProperty(crypto, 'subtle', { value: undefined }));
  }
  await tab.goto(await origin(script));
  const verdictsOf = async (cases: readonly Case[]) => {
    const found = await tab.evaluate(verdictsHere, cases);
    expect(found.by).toBe(by);
    expect(cases.filter(([, , , valid], place) => found.verdicts[place] !== valid)).toEqual([]);
    return found.asked;
  };
  const asked = await verdictsOf(await published());
  expect(asked > 0).toBe(by === 'WebCrypto');
  // Browsers differ in these cases, so WebCrypto is not called.
  expect(await verdictsOf(odd())).toBe(0);
});
