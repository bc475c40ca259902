/** What docs/scenarios.md says beside its tables. */

/** Code stands in quotes here, since backquotes end a template. */
const code = (text: string) => text.replaceAll("'", '`');

export const introduction = code(`# Scenarios

A scenario is an experiment as a file, YAML or JSON, of at most 1 MiB. This page lists every key; it
is made from the schema, as is [scenario.schema.json](scenario.schema.json) for editors
('folkmoot scenario schema' prints it). [simulating.md](simulating.md) shows how to use scenarios,
[model.md](model.md) says what they mean.

'''yaml
title: Some are silent
question: How many silent voters does it take to stop the town?
population: 60
agents:
  - group: town # neither count nor share: the rest
    producers: 3
  - group: silent
    share: 0.2
    strategy: { kind: silent }
length:
  blocks: 20
'''

Whatever is left out has its default. Names end in their unit. What is not known here is refused,
with file, line and what is allowed: 'folkmoot scenario check FILE'. 'folkmoot scenario show FILE'
prints a scenario with everything filled in. A value can be changed for one run by its path:
'--set agents.silent.share=0.4' (an element of a list by its index, a group also by its name).

A first line '# yaml-language-server: $schema=scenario.schema.json' gives completion in editors that
know it.
`);

export const scriptsText = code(`A script is a TypeScript or JavaScript module. It exports some of
the functions that [scripts.md](scripts.md) lists, each called with what the agent sees and its own
random stream; what it returns, one command or a list, the agent does. What it leaves out follows
the personality. 'sim/scenarios/scripts/grudge.ts' is one.
`);

export const interventionsText = code(`A list: what is made to be otherwise, from when on; see
[what-if.md](what-if.md). Each has a kind, and one of the first four of these to say when it acts:
`);
