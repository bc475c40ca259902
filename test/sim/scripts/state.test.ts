/** Script state: memory of an agent and of a group, for one run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { live, sentBy } from '../fixture.js';
import { honest, run, scripted } from './fixture.js';

const votes = (reason: string) =>
  `export const vote = (view) =>
    ({ do: 'vote', decision: 'approve', reason: String(${reason}) });`;
const reasons = (lived: Awaited<ReturnType<typeof live>>, group = 'own') =>
  sentBy(lived, group, 'vote').map(({ body }) => Number(body.reason));

test('shared: is common to all agents of a group, and separate from other groups', async () => {
  const { folder, group } = scripted(votes('view.shared.n = (view.shared.n ?? 0) + 1'));
  const lived = await live(
    [honest, group, { ...group, group: 'others' }],
    { length: { blocks: 3 } },
    folder,
  );
  for (const name of ['own', 'others']) {
    expect(reasons(lived, name)).toEqual(Array.from({ length: 9 }, (_, index) => index + 1));
  }
});

test('memory: is separate for each agent', async () => {
  const lived = await run(votes('view.memory.n = (view.memory.n ?? 0) + 1'));
  expect(reasons(lived).sort()).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
});

const count = 'let n = 0; export const next = () => (n += 1);';

test('modules: top-level variables, also of imports, start anew in each run', async () => {
  const { folder, group } = scripted(
    `import { next } from './lib.ts'; let m = 0; ${votes('[(m += 1), next()].join(".")')}`,
  );
  writeFileSync(join(folder, 'lib.ts'), count);
  const lives = [1, 2].map(() => live([honest, group], { length: { blocks: 2 } }, folder));
  const [first, again] = await Promise.all(lives);
  const texts = (lived: Awaited<ReturnType<typeof live>>) =>
    sentBy(lived, 'own', 'vote').map(({ body }) => body.reason);
  expect(texts(first!)).toEqual(['1.1', '2.2', '3.3', '4.4', '5.5', '6.6']);
  expect(texts(again!)).toEqual(texts(first!));
  expect(again!.result.digest).toBe(first!.result.digest);
});

test('agentsOf and groupOf: list the members of a group', async () => {
  const lived = await run(
    votes(`[...view.agentsOf('honest'), ...view.agentsOf('own'), ...view.agentsOf('gone')]
      .every((one, at) => one === at && view.groupOf(one) === (at < 5 ? 'honest' : 'own')) && 1`),
  );
  expect(reasons(lived)).toEqual(Array(9).fill(1));
});

const imported = {
  'lib.mjs':
    'export let last = 0;\nexport function one(x) { last = x; return x; }\nexport const two = 2;',
  'ring.mjs':
    "import { more } from './more.mjs';\nexport const early = (x) => more(x);\n" +
    'export function one(x) { return x; }',
  'more.mjs': "import { one } from './ring.mjs';\nexport const more = (x) => one(x);",
};
const APPROVE = "({ do: 'vote', decision: 'approve', reason: 'a' })";
test.each([
  ['a constant', `export const vote = () => ${APPROVE};`],
  ['a default export', `export default { vote: () => ${APPROVE} };`],
  ['CommonJS', `exports.vote = () => ${APPROVE};`],
  ['an import', `import { one } from './lib.mjs';\nexport const vote = () => one(${APPROVE});`],
  [
    'files that import each other',
    `import { early } from './ring.mjs';\nexport const vote = () => early(${APPROVE});`,
  ],
])('modules: plain JavaScript exports %s, as TypeScript does', async (_, text) => {
  const digests = await Promise.all(
    ['own.mjs', 'own.ts'].map(async (name) => {
      const { folder, group } = scripted(text, {}, name);
      for (const [file, code] of Object.entries(imported)) writeFileSync(join(folder, file), code);
      const lived = await live([honest, group], { length: { blocks: 2 } }, folder);
      expect(sentBy(lived, 'own', 'vote').map(({ body }) => body.reason)).toContain('a');
      return lived.result.log_digest;
    }),
  );
  expect(digests[1]).toBe(digests[0]);
});
