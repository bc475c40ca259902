/** Wrong files, folders and ranges: one line with the value and, for system errors, the code. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadScenario, ScenarioError } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { type Ended, expectOneLine, runCommand } from '../support/command.js';
import { suiteFolder } from '../support/runs.js';

const root = suiteFolder();
const [file, folder, missing] = ['file.txt', 'folder', 'missing'].map((name) => join(root, name));
writeFileSync(file!, 'hello');
mkdirSync(folder!);

function expectUsage(ended: Ended, ...parts: readonly string[]): void {
  expectOneLine(ended);
  expect(ended.code, ended.stderr).toBe(2);
  for (const part of parts) expect(ended.stderr).toContain(part);
}

test.each([
  [['check-certificate', missing!], missing!, 'ENOENT'],
  [['check-certificate', folder!], folder!, 'EISDIR'],
  [['compare', folder!, folder!], folder!, 'ENOENT'],
  [['keygen', '--out', join(missing!, 'k.json')], join(missing!, 'k.json'), 'ENOENT'],
  [['agent', 'register', '--name', 'Ada', '--key', missing!], missing!, 'ENOENT'],
  [['agent', 'register', '--name', 'Ada', '--key', folder!], folder!, 'EISDIR'],
  [['serve', '--port', '0', '--data', file!], file!, 'EEXIST'],
  [['serve', '--port', '0', '--rule', missing!], missing!, 'ENOENT'],
  [['serve', '--port', '0', '--rule', folder!], folder!, 'EISDIR'],
  [['serve', '--port', '0', '--limits-file', missing!], missing!, 'ENOENT'],
  [['load', 'compare', folder!, folder!], join(folder!, 'result.json'), 'ENOENT'],
])('%j: names the path, and the system error in words and by code', async (args, path, code) => {
  const ended = await runCommand(args);
  expectUsage(ended, path, `(${code})`);
  // Node's own text repeats the call and the path.
  expect(ended.stderr).not.toMatch(/, (?:open|read|mkdir|stat|scandir) ?'?/);
});

test.each([
  ['log'],
  ['events'],
  ['why', '1'],
  ['explore'],
  ['archive', '--before', '2'],
  ['check'],
  ['check', '--json'],
])('%s: reports a file in place of a folder', async (command, ...more) => {
  const [ofFile, ofFolder] = [
    await runCommand([command, file!, ...more]),
    await runCommand([command, folder!, ...more]),
  ];
  expectUsage(ofFile, `not a folder: ${file}`);
  expectUsage(ofFolder, `no network found in ${folder}`);
});

test.each([
  ['check'],
  ['check', '--json'],
  ['replay'],
  ['certify', '1'],
])('%s: reports a missing path', async (command, ...more) => {
  const ended = await runCommand([command, missing!, ...more]);
  expectUsage(ended, `path not found: ${missing}`);
  expect(ended.stdout).toBe('');
});

/** A program that wrote or signed such a file may have used the other value. */
test('files: a member that appears twice is refused and named', async () => {
  const twice = (name: string, text: string) => {
    const path = join(root, name);
    writeFileSync(path, text);
    return path;
  };
  const limits = twice('limits.json', '{"vote":1,"vote":2}');
  expectUsage(await runCommand(['serve', '--port', '0', '--limits-file', limits]), '/vote');
  const log = await runCommand(['replay', twice('log.ndjson', '{"seq":0,"at":0,"seq":0}\n')]);
  expectOneLine(log);
  expect([log.code, log.stderr]).toEqual([13, expect.stringContaining('/seq')]);
  const result = twice('result.json', '{"runs":[{"votes":1,"votes":2}]}');
  expectUsage(await runCommand(['load', 'compare', result, result]), '/runs/0/votes');
  const line = await runCommand(['verify'], '{"public_key":"","public_key":""}\n');
  expect(JSON.parse(line.stdout)).toEqual({ valid: false, error: 'invalid JSON' });
});

test.each(['log', 'events'])('%s: refuses a range that ends before it begins', async (command) => {
  expectUsage(await runCommand([command, root, '--from', '9', '--to', '3']), '--from 9', '--to 3');
});

test.each(['nothing', 'sim '])('help: refuses %j, and lists the topics', async (topic) => {
  expectUsage(await runCommand(['help', topic]), topic, 'exit-codes', 'certify');
  expect((await runCommand(['help', 'sim'])).code).toBe(0);
});

test.each([
  [folder!, 'IS_FOLDER'],
  [missing!, 'NOT_FOUND'],
])('scenario: %s has code %s', (path, code) => {
  const load = () => loadScenario(path);
  expect(load).toThrow(ScenarioError);
  expect(load).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['a tab', 'a:\n\tb: 1\n', 2, 1],
  ['two keys in one line', 'title: a: b\n', 1, 8],
  ['wrong indentation', 'a:\n  b: 1\n c: 2\n', 3, 1],
])('scenario: %s is not valid YAML, with line and column', (_, text, line, column) => {
  const path = join(root, 'broken.yaml');
  writeFileSync(path, text);
  const load = () => loadScenario(path);
  expect(load).toThrow(expect.objectContaining({ code: 'NOT_YAML' }));
  expect(load).toThrow(`${path}:${line}:${column}: `);
});
