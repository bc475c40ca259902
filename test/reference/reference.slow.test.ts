/**
 * The API reference: every public name has a docstring, and the example programs in docstrings
 * compile in strict TypeScript, run, and print the stated output.
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compiled } from '../own-client/programs.js';
import { host } from '../support/host.js';
import { commentsOf, examplesOf, named, publicFace } from './public-face.js';

const run = promisify(execFile);
const face = await publicFace();
const all = face.modules.flatMap((module) => [...named(module)]);
const examples = examplesOf(face);
/** Server address in the example programs. */
const here = 'http://127.0.0.1:8080';

test('reference: has every entry point of the package', () => {
  expect(face.modules.map(({ name }) => name).sort()).toEqual([
    ...['folkmoot', 'folkmoot/api', 'folkmoot/client', 'folkmoot/signing', 'folkmoot/sim'],
    'folkmoot/testing',
  ]);
  expect(all.length).toBeGreaterThan(300);
});

test('reference: every public name and every member of a public class has a docstring', () => {
  const lacking = all.filter(({ one }) =>
    commentsOf(one).every(({ summary }) => summary.every(({ text }) => text.trim() === '')),
  );
  expect(lacking.map(({ path }) => path)).toEqual([]);
});

test('reference: no link is broken, and every documented type is exported', () => {
  expect(face.warnings).toEqual([]);
});

test('examples: the most used functions and types have one', () => {
  const first = [
    ...['folkmoot Network', 'folkmoot NetworkOptions', 'folkmoot createVerifier'],
    ...['folkmoot signingInput', 'folkmoot replay', 'folkmoot/api startServer'],
    ...['folkmoot/client AgentClient', 'folkmoot/client AgentClient events'],
    ...['folkmoot/sim loadScenario', 'folkmoot/sim simulate', 'folkmoot/testing checkDeterminism'],
  ];
  expect(examples.map(({ path }) => path)).toEqual(expect.arrayContaining(first));
});

test('examples: all compile in strict TypeScript, run and print the stated output', async () => {
  const { url } = await host({ args: ['--limits', 'bench'] });
  const programs = examples.map(({ code }) => code.replaceAll(here, url));
  const { folder, files, problems } = await compiled(programs);
  expect(problems).toBe('');
  for (const [index, { path, code }] of examples.entries()) {
    const cwd = join(folder, `run-${index}`);
    mkdirSync(cwd);
    const { stdout } = await run(process.execPath, [files[index]!], { cwd });
    const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    expect(said.length, `${path} prints nothing`).toBeGreaterThan(0);
    expect(stdout.trim().split('\n'), path).toEqual(said);
  }
});
