/** The page docs/scripts.md, from the types and schemas of scripts. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatMarkdownTable } from '../dist/report/shared/format.js';
import { scriptCommands } from '../dist/sim/agents/script/commands.js';
import { forbidden } from '../dist/sim/agents/script/guard.js';
import { findingTexts } from '../dist/sim/audit/findings.js';
import { describeAllowed } from '../dist/sim/scenario/schema/common.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const types = ['sim/agents/script/interface.ts', 'sim/agents/port.ts', 'sim/rng.ts']
  .map((path) => readFileSync(root + path, 'utf8'))
  .join('\n');

/** Returns the name, type and docstring of each member in an interface. */
function membersOf(name) {
  const begin = types.indexOf(`export interface ${name} {`);
  if (begin < 0) throw new Error(`unknown interface: ${name}`);
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

const members = (name) =>
  formatMarkdownTable(
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
      `${describeAllowed(field)}${required.has(key) ? '' : '; optional'}`,
      field.description ?? '',
    ]);
    const [first = ['', '', ''], ...rest] = shown;
    return [[`\`${name}\``, schema.description, ...first], ...rest.map((row) => ['', '', ...row])];
  });
}

const functions = membersOf('ScriptModule').map(({ key, about }) => [`\`${key}\``, about]);
const refused = [...new Set(forbidden.map(({ name }) => `\`${name}\``))].join(', ');

export const scriptsPage = () => `# Scripts

A script is a custom strategy: a TypeScript or JavaScript module next to the scenario, selected
with \`strategy: { kind: script, module: PATH, parameters: {...} }\`. The module exports some of
the functions below. The simulator calls a function for one agent, with a view of what the agent
sees (\`view\`) and a random stream of the agent (\`rng\`). The agent executes the returned
commands. In \`hear\` and \`vote\`, the stream depends on the block, the function and the round,
so that a run with one block fewer draws the same numbers for every other block
([model.md](model.md), section 4). Without a function, the agent follows its personality.
[simulating.md](simulating.md) shows the first steps, and \`sim/scenarios/scripts/\` contains
examples. The types are in \`folkmoot/sim\`. \`folkmoot scenario check FILE\` checks a script
against them if TypeScript is installed. This page is generated from the code.

\`\`\`ts
import type { ScriptModule } from 'folkmoot/sim';

export const vote: ScriptModule['vote'] = ({ block, memory }, rng) => {
  memory.votes = Number(memory.votes ?? 0) + 1;
  const sound = block !== null && block.soundness >= 80;
  return { do: 'vote', decision: sound || rng.chance(0.1) ? 'approve' : 'reject' };
};
\`\`\`

## Functions

${formatMarkdownTable(['export', 'called'], functions)}

All functions except \`report\` have the arguments \`(view, rng)\` and return a command, a list
of commands, or nothing. They are synchronous: a promise is refused. Every function is optional.

## view

${members('ScriptView')}

The view is a frozen copy: writing to it throws. A script can write only to \`memory\` and
\`shared\`. Both are empty at the start of a run. Each run loads the module and its imports anew,
separately for each group.

### view.me

${members('ScriptAgent')}

### view.head

${members('KnownHead')}

### view.rule

${members('ScriptRule')}

### view.block

${members('ScriptBlock')}

### Elements of view.block.votes

${members('ReceivedVote')}

### Elements of view.block.memes

${members('ReceivedMeme')}

### Elements of view.block.remarks

${members('ReceivedRemark')}

### view.message

${members('ReceivedMessage')}

## Commands

${formatMarkdownTable(['do', 'effect', 'member', 'allowed', 'meaning'], commandRows())}

\`wait\` applies to the block that the call concerns, so only \`hear\` and \`vote\` can return
it. \`vote\`, \`meme\` and \`say\` also apply to this block, unless \`block\` names another one.
With \`block\`, every function can return them. An unknown command or a member of a wrong type
ends the run with an error.

**Ballots and options.** \`vote\` may carry a \`ballot\` if the network's [rule](rules.md) counts
ballots, and \`propose\` may list \`options\` if the rule chooses among options.
\`view.rule.ballot\` is the schema of a ballot, and \`view.block.options\` are the options. A
ballot that the rule does not accept ends the run with an error. A rule without ballots or options
ignores them.

\`\`\`ts
import type { ScriptModule } from 'folkmoot/sim';

export const vote: ScriptModule['vote'] = ({ block }, rng) => {
  const ranking = rng.shuffle(block?.options ?? []);
  return { do: 'vote', decision: 'approve', ballot: { ranking } };
};
export const produce: ScriptModule['produce'] = () => ({ do: 'propose', options: ['a', 'b', 'c'] });
\`\`\`

**Remarks.** An agent does not receive its own votes, memes and remarks. A script that tallies what
agents said must add what its own agent said.

**Messages.** \`send\` sends one message to each neighbour in the social graph, with the latency
of the link. Loss, partitions and crashes of the receiver affect these messages like all others.
Agents that have not joined yet receive nothing. The random numbers of a message depend on the
sender, the receiver and a counter of the sender. Messages of scripts count as \`talk\`.

**Timers.** \`wake\` calls the function \`wake\` with its \`note\`. A timer with a \`name\` replaces
the pending one of the same name, and \`cancel\` removes it. A timer without a name cannot be
cancelled. A crash loses all pending timers, and \`start\` can set them again.

### Decisions

\`decide\` states that the agent's protocol has decided a value for a slot. The statement stays
outside the network: it is neither a request nor a message. An audit checks two rules at the end of
the command: an honest agent decides once for a slot, and no two honest agents decide differently
for one slot. A repeated statement has no effect. A violation is a finding. The run continues, and
its verdict is \`conflict\`. The measures whose names begin with \`slot\` describe the decisions
([measures.md](measures.md)). A run can end at a number of slots:
\`length: { until: [{ measure: slots_decided, at_least: 100 }] }\`.

All agents with scripts are honest by default. \`strategy: { kind: script, honest: false, ... }\`
marks the agents of a group as faulty, and the audit ignores their decisions.

The following scenarios of the package show protocols between agents.
[validation.md](validation.md) compares
their results with theory:

| scenario            | protocol                                                             |
| ------------------- | -------------------------------------------------------------------- |
| \`tendermint\`        | leaders in rotation, view change, silent agents and equivocators     |
| \`snowball\`          | repeated random samples, then a vote on the block from \`receive\`     |
| \`degroot\`           | weighted means of the neighbours' opinions, in integers              |
| \`hegselmann-krause\` | means of all opinions that are nearly alike; all agents move at once |

### Findings

Some valid commands have no effect. They never end the run. summary.json lists them as \`findings\`,
with a name, the number of occurrences, and the agent, time and description of the first one. The
command line and the report show them.

${formatMarkdownTable(
  ['finding', 'meaning'],
  Object.entries(findingTexts).map(([name, text]) => [`\`${name}\``, text]),
)}

## rng

${members('Stream')}

## report: custom measures

The simulator calls \`report(view)\` at the end, once for the run (\`view.group\` is null) and once
for each group with the script. The function returns numbers by name, or nothing. A name matches
\`^[a-z][a-z0-9_]{0,31}$\` and differs from the names in [measures.md](measures.md). A number is
finite, or null if unknown. The numbers appear as \`reported\` in summary.json, as rows of
reported.csv, and as columns of a sweep.

${members('ScriptReportView')}

### Elements of view.groups

${members('ScriptGroup')}

### Elements of view.blocks

${members('ScriptReportBlock')}

## Restrictions

A script is a program with all rights of the process. Calls that would make runs nondeterministic
are refused while the module loads and while its functions run: \`Date()\`, \`new Date()\`,
\`Date.now\`, ${refused}. The error names the call, script, function and agent, and ends the run
even if the script catches the error. A \`Date\` with a given time is allowed. Promises are also
refused, such as the call of an \`async\` function. The restrictions apply to imported packages
while a function runs, but not while the packages load.

A call that takes more than 10 s (\`--script-seconds\`) ends the run with an error that names the
call, in every command. The same applies to a module that does not finish loading. An endless chain
of promises ends the process.

The simulator does not detect data from files, other processes and the network; \`Intl\` formats of
the current time, the locale and the time zone; state in \`globalThis\` and other objects of the
process; and unbounded memory. \`--check-determinism\`, and the first run of every sweep with
scripts, detect differences that result from these.
`;
