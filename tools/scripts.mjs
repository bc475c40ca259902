// Writes docs/scripts.md from the types and schemas of scripts. Requires `npm run build`. With
// --print, writes to standard output.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { scriptCommands } from '../dist/sim/agents/script/commands.js';
import { forbidden } from '../dist/sim/agents/script/guard.js';
import { describeAllowed } from '../dist/sim/scenario/schema/common.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const types = ['sim/agents/script/interface.ts', 'sim/agents/port.ts', 'sim/rng.ts']
  .map((path) => readFileSync(root + path, 'utf8'))
  .join('\n');

/** Returns name, type and docstring of the members of an interface. */
function membersOf(name) {
  const begin = types.indexOf(`export interface ${name} {`);
  if (begin < 0) throw new Error(`there is no interface ${name}`);
  const body = types.slice(types.indexOf('{', begin) + 1, types.indexOf('\n}', begin));
  const member = /\/\*\*([\s\S]*?)\*\/\s*(?:readonly )?(\w+)(\??)(<\w+>)?([\s\S]*?);\n/g;
  const found = [...`${body}\n`.matchAll(member)].map(([, doc, key, , , type]) => ({
    key,
    type: type
      .replace(/^: /, '')
      .replace(/\breadonly /g, '')
      .replace(/\s+/g, ' '),
    about: docText(doc),
  }));
  if (found.length === 0) throw new Error(`${name} has no member with a docstring`);
  return found;
}

function docText(doc) {
  const text = doc.replace(/^\s*\* ?/gm, ' ').replace(/@throws[\s\S]*/, '');
  return text.replace(/\s+/g, ' ').trim();
}

/** Formats an aligned Markdown table. */
function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}

const members = (name) =>
  table(
    ['member', 'type', 'what it is'],
    membersOf(name).map(({ key, type, about }) => {
      const call = type.startsWith('(');
      return [
        `\`${key}${call ? type.slice(0, type.lastIndexOf('): ') + 1) : ''}\``,
        `\`${call ? type.slice(type.lastIndexOf('): ') + 3) : type}\``,
        about,
      ];
    }),
  );

function commandRows() {
  return Object.entries(scriptCommands).flatMap(([name, schema]) => {
    const fields = Object.entries(schema.properties).filter(([key]) => key !== 'do');
    const required = new Set(schema.required);
    const shown = fields.map(([key, field]) => [
      `\`${key}\``,
      `${describeAllowed(field)}${required.has(key) ? '' : '; may be left out'}`,
      field.description ?? '',
    ]);
    const [first = ['', '', ''], ...rest] = shown;
    return [[`\`${name}\``, schema.description, ...first], ...rest.map((row) => ['', '', ...row])];
  });
}

const functions = membersOf('ScriptModule').map(({ key, about }) => [`\`${key}\``, about]);
const refused = [...new Set(forbidden.map(({ name }) => `\`${name}\``))].join(', ');

const document = `# Scripts

A script is a strategy of your own: a TypeScript or JavaScript module beside the scenario, named
by \`strategy: { kind: script, module: PATH, parameters: {...} }\`. It exports some of the
functions below. Each is called for one agent, with what the agent sees (\`view\`) and its own
random stream (\`rng\`); what it returns, a command or a list of them, the agent does. In
\`hear\` and \`vote\` the stream belongs to the block, the function and the round, so that a run
with one block less draws the same about every other block ([model.md](model.md), section 4). What
the script leaves out follows the agent's personality. [simulating.md](simulating.md) shows the
first steps;
\`sim/scenarios/scripts/\` has scripts to start from. The types are in \`folkmoot/sim\`, and
\`folkmoot scenario check FILE\` holds a script against them where TypeScript is installed. This
page is made from the code.

\`\`\`ts
import type { ScriptModule } from 'folkmoot/sim';

export const vote: ScriptModule['vote'] = ({ block, memory }, rng) => {
  memory.votes = Number(memory.votes ?? 0) + 1;
  const sound = block !== null && block.soundness >= 80;
  return { do: 'vote', decision: sound || rng.chance(0.1) ? 'approve' : 'reject' };
};
\`\`\`

## Functions

${table(['export', 'when it is called'], functions)}

All but \`report\` are called as \`(view, rng)\` and give a command, a list of commands, or
nothing. They answer at once: a promise is refused. A script that has one function need have no
other.

## What the agent sees: view

${members('ScriptView')}

All of it is a frozen copy: writing into it throws, and changes nothing of the world. Only
\`memory\` and \`shared\` are the script's to write. They belong to the run: each begins with
empty ones, and with the module and all that it imports loaded anew, for each group by itself.

### view.me

${members('ScriptAgent')}

### view.block

${members('ScriptBlock')}

### One of view.block.votes

${members('ReceivedVote')}

### One of view.block.memes

${members('ReceivedMeme')}

### One of view.block.remarks

${members('ReceivedRemark')}

### view.message

${members('ReceivedMessage')}

## What the agent does: commands

${table(['do', 'what it does', 'member', 'allowed', 'what it is'], commandRows())}

\`vote\`, \`meme\`, \`say\` and \`wait\` are about the block of the call, so they can be given in
\`hear\` and \`vote\` only. A command that is not known, or has a member of another kind, ends the
run and is named.

**Messages.** What \`send\` gives goes to neighbours along the social graph, one message each,
with the link's latency; it is lost as any other message is, by loss, partitions, and crashes of
who should receive it. Who has not joined yet receives nothing. Messages are drawn from sender,
receiver and the sender's own count, and counted as \`talk\` among the messages of the run.

## Chance: rng

${members('Stream')}

## Measures of your own: report

\`report(view)\` is called at the end, once for the run (\`view.group\` is null) and once for each
group that follows the script. It gives numbers by name, or nothing: names fit
\`^[a-z][a-z0-9_]{0,31}$\` and are none of [measures.md](measures.md)'s; numbers are finite, or
null where one cannot be said. They are \`reported\` in summary.json, rows of reported.csv, and
columns of a sweep.

${members('ScriptReportView')}

### One of view.groups

${members('ScriptGroup')}

### One of view.blocks

${members('ScriptReportBlock')}

## What ends a run

A script is a program, and runs with all rights of the process. What would make its run another
one each time is refused while one of its functions is called or its module is loaded, by name,
script, function and agent, even where the script catches the error: \`Date()\`, \`new Date()\`,
\`Date.now\`, ${refused}. A \`Date\` that is given its time is as ever. So is what would come
after the call: whatever makes a promise, as a call of an \`async\` function does. Packages that a
script imports are held to the same while it is called; what they do while they are loaded is
their business.

A call that takes more than 10 s (\`--script-seconds\`) is ended and named, an endless loop too,
in every command, as is a module that does not come back from being loaded. Promises that go on
for ever end the process.

Not seen are: what was read from files, other processes and the network; \`Intl\` formats of the
present time, and what follows from locale or time zone; \`globalThis\` and objects of the process
as places to keep things between runs; and memory without bound. \`--check-determinism\`, and the
first run of every sweep with scripts, find what of that comes out differently.
`;

if (process.argv.includes('--print')) process.stdout.write(document);
else writeFileSync(`${root}docs/scripts.md`, document);
