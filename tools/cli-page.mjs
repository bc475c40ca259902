/**
 * Writes docs/cli.md from the help texts in test/cli/help.txt and the exit codes that the built
 * command line prints. With --print, writes the page to standard output.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const helps = readFileSync(`${root}test/cli/help.txt`, 'utf8')
  .split(/^\$ (?=folkmoot )/m)
  .slice(1);
const sections = helps.map((text) => {
  const [command, ...lines] = text.trimEnd().split('\n');
  const name = command.replace(/ --help$/, '');
  return `## ${name}\n\n\`\`\`text\n${lines.join('\n').trim()}\n\`\`\`\n`;
});

const codes = execFileSync(process.execPath, [`${root}dist/cli/main.js`, 'help', 'exit-codes'], {
  encoding: 'utf8',
});
const rows = [...codes.matchAll(/^ {2}(\d+) +(\S.*(?:\n {6}\S.*)*)/gm)].map(
  ([, code, text]) => `| ${code} | ${text.replace(/\s+/g, ' ')} |`,
);

const page = `# Command line

\`folkmoot COMMAND --help\` prints the help of a command. This page has the help of all commands.

## Exit codes

All commands use the same exit codes:

| code | meaning |
| ---- | ------- |
${rows.join('\n')}

${sections.join('\n')}`;

if (process.argv.includes('--print')) process.stdout.write(page);
else writeFileSync(`${root}docs/cli.md`, page);
