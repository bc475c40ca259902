/**
 * `folkmoot scenario`: checks scenario files and shows them, their schema and the shipped ones.
 */

import { Command } from 'commander';
import type { Change } from '../../sim/index.js';
import { scenarioOptions } from '../options/scenario.js';
import { exitCodes } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { escapeControls, printJson, writeStderr, writeStdout } from '../output/output.js';

export function scenarioCommand(): Command {
  const scenario = new Command('scenario')
    .description('check and show scenarios: check, show, schema, list')
    .addHelpText(
      'after',
      `
A scenario is an experiment as a file, YAML or JSON: docs/scenarios.md has every key. Those that
come with folkmoot can be named without a path.

Examples:
  $ folkmoot scenario list
  $ folkmoot scenario show byzantine --set agents.adversaries.share=0.4
  $ folkmoot scenario check experiments/*.yaml`,
    );
  scenario
    .command('check')
    .description('say of each file whether it can be run, or the first thing that is wrong')
    .argument('<file...>', 'scenarios, YAML or JSON')
    .option('--no-scripts', 'leave the scripts of a scenario alone')
    .addHelpText(
      'after',
      `
A line a file on standard output. Each cell of a sweep is looked at too. The scripts of a scenario
are programs, and to check them is to run what stands at their top: --no-scripts does not. They are
taken from the folder of the scenario file only. Types of TypeScript scripts are checked by the
TypeScript that is installed beside the scenario or where the command is given. Whoever decides from
outside (docs/deciders.md) is neither started nor asked. Exit codes: 0 all are fine, 2 usage, or one
of them is not.

Example:
  $ folkmoot scenario check town.yaml byzantine`,
    )
    .action(check);
  const show = scenario
    .command('show')
    .description('print a scenario with everything filled in, as YAML')
    .argument('<file>', 'a scenario, YAML or JSON')
    .option('--json', 'as one JSON object')
    .addHelpText('after', '\nExample:\n  $ folkmoot scenario show healthy-town > town.yaml');
  for (const option of scenarioOptions()) if (option.long === '--set') show.addOption(option);
  show.action(showOne);
  scenario
    .command('schema')
    .description('print the JSON Schema of scenarios, for editors and other programs')
    .addHelpText('after', '\nExample:\n  $ folkmoot scenario schema > scenario.schema.json')
    .action(printSchema);
  scenario
    .command('list')
    .description('the scenarios that come with folkmoot: name, title, question and path')
    .option('--json', 'as one JSON array')
    .addHelpText('after', '\nExample:\n  $ folkmoot scenario list')
    .action(list);
  return scenario;
}

async function check(files: string[], { scripts }: { scripts: boolean }): Promise<void> {
  const { loadScenario, ScenarioError } = await import('../../sim/index.js');
  const { checkScripts } = await import('../../sim/agents/script/scripts.js');
  const { scriptModules } = await import('../../sim/scenario/population.js');
  const { planScenario } = await import('../../sim/sweep/plan.js');
  for (const file of files) {
    try {
      const loaded = loadScenario(file);
      const { scenario, folder } = loaded;
      const cells = scenario.sweep ? planScenario(loaded) : null;
      const programs = [...new Set([...scriptModules(scenario), ...(cells?.scripts ?? [])])];
      const did = scripts ? 'runs' : 'not checked:';
      // Before it is done: it may be the last thing that is.
      if (programs.length > 0) writeStderr(`${file}: ${did} ${programs.join(', ')} in ${folder}`);
      const problems = scripts ? await typeProblems(file, programs, folder) : [];
      if (scripts) await checkScripts(programs, folder);
      if (problems.length > 0) throw new ScenarioError(problems.join('\n'));
      writeStdout(`ok ${file}: ${scenario.title} (${scenario.population} agents)`);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      const { message } = error;
      for (const line of message.split('\n')) {
        writeStdout(`bad ${line.startsWith(file) ? '' : `${file}: `}${line}`);
      }
      setExitCode(exitCodes.usage);
    }
  }
}

/** What the TypeScript that is installed says of the scripts, a line each. */
async function typeProblems(file: string, scripts: readonly string[], folder: string) {
  const { checkTypes } = await import('../../sim/agents/script/type-check.js');
  const checked = checkTypes(scripts, folder);
  if (checked?.typescript === null) {
    const advice = 'npm install --save-dev typescript';
    writeStderr(`${file}: types are not checked: no TypeScript is installed there (${advice})`);
  }
  return checked?.problems ?? [];
}

async function showOne(file: string, { set, json }: { set?: Change[]; json?: boolean }) {
  const { loadScenario } = await import('../../sim/index.js');
  const { scenario } = loadScenario(file, set);
  if (json) return printJson(scenario);
  writeStdout(...(await yamlLines(scenario)));
}

async function printSchema(): Promise<void> {
  const { scenarioJsonSchema } = await import('../../sim/index.js');
  writeStdout(...JSON.stringify(scenarioJsonSchema(), null, 2).split('\n'));
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const { loadScenario, shippedScenarios } = await import('../../sim/index.js');
  const all = shippedScenarios().map(({ name, path }) => {
    const { title, question } = loadScenario(path).scenario;
    return { name, title, question, path };
  });
  if (json) return printJson(all);
  for (const { name, title, question, path } of all) {
    writeStdout(`${name}: ${title}`, `  ${question}`, `  ${path}`);
  }
}

/** Lines, without a last empty one. */
async function yamlLines(value: unknown): Promise<string[]> {
  const { Document, Scalar, visit } = await import('yaml');
  const document = new Document(value);
  visit(document, {
    Scalar(_, node) {
      const { value: text } = node;
      if (typeof text !== 'string') return;
      // Line feeds are YAML's own, in a block.
      const plain = text.replaceAll('\n', '');
      if (escapeControls(plain) !== plain) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString().trimEnd().split('\n');
}
