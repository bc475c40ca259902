/** docs/scripts.md is complete. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { scriptCommands } from '../../../dist/sim/agents/script/commands.js';
import { functionNames } from '../../../dist/sim/agents/script/interface.js';
import { run } from './fixture.js';

const page = fileURLToPath(new URL('../../../docs/scripts.md', import.meta.url));
const text = readFileSync(page, 'utf8');

const section = (title: string) => text.split(`\n## ${title}`)[1]!.split('\n## ')[0]!;

test('docs/scripts.md: lists every function and every command with its members', () => {
  for (const name of functionNames) expect(section('Functions')).toContain(`| \`${name}\``);
  for (const [name, { properties }] of Object.entries(scriptCommands)) {
    const commands = section('Commands');
    expect(commands).toContain(`| \`${name}\``);
    for (const key of Object.keys(properties)) {
      if (key !== 'do') expect(commands, name).toContain(`| \`${key}\``);
    }
  }
});

test('docs/scripts.md: lists every member of the views of a script', async () => {
  const { result } = await run(`
    export const vote = (view) => {
      const named = (one) => Object.keys(one).join(' ');
      view.shared.names = [named(view), named(view.me), named(view.block)].join(' ');
      return { do: 'vote', decision: 'approve' };
    };
    export const report = (view) => {
      if (view.group === null) return null;
      const names = [...view.groups[0].shared.names.split(' '), ...Object.keys(view)];
      const all = [...names, ...Object.keys(view.groups[0]), ...Object.keys(view.blocks[0])];
      return Object.fromEntries(all.map((name) => [
        name.replace(/[A-Z]/g, (letter) => '_9' + letter.toLowerCase()) + '_seen', 1]));
    };`);
  const names = Object.keys(result.reported.groups.own!).map((name) =>
    name.replace(/_seen$/, '').replace(/_9(.)/g, (_, letter) => String(letter).toUpperCase()),
  );
  expect(names.length).toBeGreaterThan(30);
  for (const name of names) expect(text).toMatch(new RegExp(`^\\| \`${name}[\`(]`, 'm'));
});
