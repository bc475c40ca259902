/** Answers to the completion scripts, from the command tree. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/command.js';
import { linesOf, suiteFolder } from '../../support/runs.js';

const folder = suiteFolder();

/** Returns the candidates for the last word, and the paths that the shell adds. */
async function complete(words: readonly string[], shell = 'zsh') {
  const { code, stdout, stderr } = await runCommand(['__complete', shell, ...words]);
  expect([code, stderr]).toEqual([0, '']);
  const lines = linesOf(stdout);
  const paths = lines.pop();
  const rows = lines.map((line) => line.split('\t'));
  return { values: rows.map(([value]) => value), texts: rows.map(([, text]) => text), paths };
}

test('completion: commands have their descriptions', async () => {
  const { values, texts, paths } = await complete(['']);
  expect(values).toEqual(expect.arrayContaining(['sim', 'serve', 'load', 'config', 'help']));
  expect(values).not.toContain('__complete');
  expect([texts.filter((text) => !text), paths]).toEqual([[], ':none']);
  expect((await complete(['ser'])).values).toEqual(['serve']);
  expect((await complete(['help', 'exit'])).values).toEqual(['exit-codes']);
  expect((await complete(['nope', ''])).values).toEqual([]);
});

test.each([
  ['a subcommand', ['load', 'comp'], ['compare']],
  ['a subcommand after an option with a value', ['load', '--rate', '5', 'mer'], ['merge']],
  ['an option', ['serve', '--limits'], ['--limits', '--limits-file']],
  ['an option of a subcommand', ['load', 'compare', '--mark'], ['--markdown']],
  ['a choice', ['serve', '--limits', 'b'], ['bench']],
  ['a choice after =', ['serve', '--limits=b'], ['--limits=bench']],
  ['a fixed value of a parser', ['sim', '--watch='], ['--watch=paused']],
  ['a choice of an argument', ['completion', 'f'], ['fish']],
  ['a choice of a later argument', ['agent', 'vote', '1', 'app'], ['approve']],
  ['nothing for a number', ['serve', '--port', ''], []],
  ['a scenario', ['sim', 'healthy'], ['healthy-town']],
  ['a scenario of an option', ['serve', '--scenario', 'healthy'], ['healthy-town']],
  ['a scenario of a sweep', ['scenario', 'check', 'two-b'], ['two-blocs']],
])('completion: completes %s', async (_, words, expected) => {
  expect((await complete(words)).values).toEqual(expected);
});

test.each([
  ['a file', ['serve', '--config', ''], ':files'],
  ['a folder', ['serve', '--data', ''], ':folders'],
  ['a scenario file', ['sim', ''], ':files'],
  ['a run or a log', ['replay', ''], ':files'],
  ['a run', ['explore', ''], ':folders'],
  ['no path', ['load', '--rate', ''], ':none'],
])('completion: the shell adds paths for %s', async (_, words, expected) => {
  expect((await complete(words)).paths).toBe(expected);
});

test('completion: lists folders with runs, down to one level', async () => {
  const marks = { 'runs/7': 'summary.json', 'runs/load': 'result.json', data: 'data.mdb' };
  for (const [name, mark] of Object.entries(marks)) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, mark), '');
  }
  mkdirSync(join(folder, 'empty'));
  const all = await complete(['explore', `${folder}/`]);
  const expected = ['data', 'runs/7', 'runs/load'].map((name) => join(folder, name));
  expect([...all.values].sort()).toEqual(expected);
  const inner = await complete(['explore', `${folder}/runs/l`]);
  expect(inner.values).toEqual([join(folder, 'runs/load')]);
});

test('completion: bash splits words at =, and gets the part after the sign', async () => {
  expect((await complete(['serve', '--limits', '=', 'b'], 'bash')).values).toEqual(['bench']);
  expect((await complete(['serve', '--limits', '='], 'bash')).values).toEqual([
    ...['spec', 'bench', 'off'],
  ]);
  const next = ['serve', '--limits', '=', 'bench', '--clo'];
  expect((await complete(next, 'bash')).values).toEqual(['--clock']);
});
