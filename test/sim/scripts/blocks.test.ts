/** Blocks that scripts see, and commands about blocks other than that of the call. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { live, sentBy, votesOf } from '../fixture.js';
import { honest, mistake, run, scripted } from './fixture.js';

test('block: has its parent, its height and the time of its proposal', async () => {
  const lived = await run(`
    export const vote = ({ block, nowMs }) => {
      const reason = [block.hash, block.parent, block.height, block.at, nowMs - block.ageMs];
      return { do: 'vote', decision: 'approve', reason: reason.join(' ') };
    };`);
  const reasons = sentBy(lived, 'own', 'vote').map(({ body }) => String(body.reason).split(' '));
  expect(reasons).toHaveLength(3 * lived.blocks.length);
  for (const [hash, parent, height, at, proposed] of reasons) {
    const block = lived.blocks.find((one) => one.block_hash === hash)!;
    expect([parent, height, at]).toEqual([block.parent_hash, block.height, block.proposed_ms]);
    expect(proposed).toBe(at);
  }
});

/** The agents hear of a block in `hear`, and act on it two seconds later in another function. */
const later = (name: string, commands: string, hear = 'null') => `
  export const start = () => ({ do: 'wake', ms: 2_000 });
  export const hear = () => ${hear};
  export const ${name} = ({ blocks, me, memory }) => {
    const again = ${name === 'wake' ? "[{ do: 'wake', ms: 2_000 }]" : '[]'};
    const acts = blocks.filter(({ ageMs }) => ageMs > 500).flatMap((block) => ${commands});
    return [...again, ...acts];
  };`;
const first = `
  const first = (memory, { hash }) => (memory[hash] = (memory[hash] ?? 0) + 1) === 1;`;
const approves = "[{ do: 'vote', decision: 'approve', block: block.hash }]";

test('vote: names any open block, from wake', async () => {
  const lived = await run(later('wake', approves));
  expect(votesOf(lived, 'own')).toHaveLength(3 * lived.blocks.length);
  expect(votesOf(lived, 'own').every(({ after_ms }) => Number(after_ms) > 500)).toBe(true);
  expect(lived.result.findings).toBe(undefined);
});

test('vote: names any open block, from receive', async () => {
  const lived = await run(`
    export const start = () => ({ do: 'wake', ms: 1_000 });
    export const wake = () => [{ do: 'wake', ms: 1_000 }, { do: 'send', content: 1 }];
    ${later('receive', approves).split('\n').slice(2).join('\n')}`);
  expect(votesOf(lived, 'own').length).toBeGreaterThanOrEqual(3 * (lived.blocks.length - 1));
});

test('say and meme: name any open block, and a neighbour receives them', async () => {
  const said = `[{ do: 'say', stance: 'reject', message: 'late', block: block.hash },
    { do: 'meme', stance: 'reject', block: block.hash }]`;
  const { folder, group } = scripted(
    first + later('wake', `me.ordinal === 5 && first(memory, block) ? ${said} : []`),
  );
  const listener = `
    export const hear = () => ({ do: 'wait', ms: 3_500 });
    export const vote = ({ block, memory, shared }) => {
      shared.late = Math.max(shared.late ?? 0, block.remarks.length);
      shared.jokes = Math.max(shared.jokes ?? 0, block.memes.length);
      return { do: 'vote', decision: 'approve' };
    };
    export const report = ({ groups: [own] }) => own.shared;`;
  const { folder: other, group: listens } = scripted(listener, {}, 'listener.ts');
  copyFileSync(join(other, 'listener.ts'), join(folder, 'listener.ts'));
  const { result } = await live(
    [honest, group, { ...listens, group: 'listens' }],
    { length: { blocks: 3 } },
    folder,
  );
  expect(result.reported.groups.listens).toEqual({ late: 1, jokes: 1 });
});

test.each([
  ['an unknown block', "'f'.repeat(64)"],
  ['a closed block', 'memory.first'],
  ['the genesis block', "'0'.repeat(64)"],
])('vote: %s is a finding, and the run continues', async (_, named) => {
  const { result, sent } = await run(`
    export const start = () => ({ do: 'wake', ms: 12_000 });
    export const hear = ({ block, memory }) => {
      memory.first ??= block.hash;
      return { do: 'vote', decision: 'approve' };
    };
    export const wake = ({ memory }) => [
      { do: 'vote', decision: 'reject', block: ${named} },
      { do: 'say', stance: 'reject', message: 'x', block: ${named} },
    ];`);
  expect([result.verdict, result.ended_by]).toEqual(['pass', 'blocks']);
  expect(result.findings).toMatchObject([{ name: 'BLOCK_NOT_OPEN', count: 6 }]);
  expect(result.findings![0]!.at_ms).toBeGreaterThanOrEqual(12_000);
  expect(sent.filter(({ kind }) => kind === 'discuss')).toEqual([]);
});

test('vote: without a block outside hear and vote, ends the run', async () => {
  const text = "export const start = () => ({ do: 'say', stance: 'reject', message: 'x' });";
  expect((await mistake(text)).message).toMatch(/no block to act on/);
});

test('round: counts the vote calls from 0, also after wait in hear', async () => {
  const rounds = async (hear: string) => {
    const { result } = await run(`
      ${hear}
      export const vote = ({ round, shared }) => {
        (shared.rounds ??= []).push(round);
        return round < 2 ? { do: 'wait', ms: 100 } : { do: 'vote', decision: 'approve' };
      };
      export const report = ({ groups: [own] }) => Object.fromEntries(
        [0, 1, 2, 3].map((n) => ['r' + n, own.shared.rounds.filter((one) => one === n).length]));`);
    const { r0, r1, r2, r3 } = result.reported.groups.own!;
    expect(r0).toBeGreaterThanOrEqual(9);
    return [r1 === r0, r2 === r0, r3];
  };
  expect(await rounds('')).toEqual([true, true, 0]);
  expect(await rounds("export const hear = () => ({ do: 'wait', ms: 300 });")).toEqual([
    ...[true, true, 0],
  ]);
});

test('remarks: an agent does not receive its own', async () => {
  const { result } = await run(`
    export const hear = ({ me }) => [
      { do: 'say', stance: 'approve', message: me.name }, { do: 'wait', ms: 1_000 }];
    export const vote = ({ block, me, shared, groupOf }) => {
      const own = block.remarks.filter(({ message }) => message === me.name);
      shared.own = (shared.own ?? 0) + own.length;
      shared.others = (shared.others ?? 0) + block.remarks.length;
      return { do: 'vote', decision: 'approve' };
    };
    export const report = ({ groups: [own] }) => own.shared;`);
  const { own, others } = result.reported.groups.own!;
  expect(own).toBe(0);
  expect(others).toBeGreaterThanOrEqual(6 * result.measures.finalized!);
});
