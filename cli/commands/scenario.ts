import type { Change } from '../../sim/index.js';
import { CliCommand } from '../options/options.js';
import { setOption } from '../options/scenario.js';
import { exitCodes } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { escapeControls, printJson, writeStderr, writeStdout } from '../output/output.js';

export function scenarioCommand(): CliCommand {
  const scenario = new CliCommand('scenario')
    .description('list, show and check scenarios')
    .notes(`
A scenario is a YAML or JSON file that describes a simulation. Shipped scenarios
have a name and need no path. See docs/scenarios.md for all keys.`)
    .examples(
      'scenario list',
      'scenario show byzantine --set agents.adversaries.share=0.4',
      'scenario check experiments/*.yaml',
    );
  scenario
    .command('check')
    .description('check scenario files')
    .argument('<file...>', 'scenario files or names')
    .option('--no-scripts', 'do not load the scripts of a scenario')
    .notes(`
Prints ok for a valid file, or a line for each of at most 20 problems. Checks
every cell of a sweep. Exits with code 2 if a file is invalid.

Loading a script runs its top-level code. --no-scripts prevents this. Types of
TypeScript scripts are checked with the TypeScript installed next to the
scenario or in the current folder. External deciders are not started.`)
    .examples(
      'scenario check town.yaml',
      'scenario check town.yaml byzantine',
      'scenario check downloaded.yaml --no-scripts',
    )
    .action(check);
  scenario
    .command('show')
    .description('print a scenario with all defaults')
    .argument('<file>', 'scenario file or name')
    .option('--json', 'print one JSON object')
    .examples(
      'scenario show healthy-town > town.yaml',
      'scenario show byzantine --set agents.adversaries.share=0.4',
      'scenario show town.yaml --json',
    )
    .addOption(setOption())
    .action(showOne);
  addReferences(scenario);
  return scenario;
}

function addReferences(scenario: CliCommand): void {
  scenario
    .command('schema')
    .description('print the JSON Schema of scenarios')
    .examples(
      'scenario schema',
      'scenario schema > scenario.schema.json',
      "scenario schema | jq '.properties | keys'",
    )
    .action(printSchema);
  scenario
    .command('list')
    .description('list the shipped scenarios')
    .option('--json', 'print one JSON array')
    .examples('scenario list', 'scenario list --json', "scenario list --json | jq -r '.[].name'")
    .action(list);
}

async function check(files: string[], { scripts }: { scripts: boolean }): Promise<void> {
  const { loadScenario, ScenarioError } = await import('../../sim/index.js');
  const { assertModule } = await import('../../sim/scenario/complete.js');
  const { assertPrompts } = await import('../../sim/agents/deciders/deciders.js');
  const { assertScripts } = await import('../../sim/agents/script/scripts.js');
  const { scriptModules } = await import('../../sim/scenario/population.js');
  const { planScenario } = await import('../../sim/sweep/plan.js');
  for (const file of files) {
    try {
      const loaded = loadScenario(file);
      const { scenario, folder } = loaded;
      await assertModule(scenario);
      assertPrompts(scenario, folder);
      const cells = scenario.sweep ? planScenario(loaded) : null;
      const programs = [...new Set([...scriptModules(scenario), ...(cells?.scripts ?? [])])];
      const action = scripts ? 'loading' : 'not loading';
      // Printed first, because a script can end the process.
      if (programs.length > 0) {
        writeStderr(`${file}: ${action} ${programs.join(', ')} in ${folder}`);
      }
      const problems = scripts ? await typeProblems(file, programs, folder) : [];
      if (scripts) await assertScripts(programs, folder);
      if (problems.length > 0) {
        throw Object.assign(new ScenarioError(problems.join('\n')), { lines: problems });
      }
      writeStdout(`ok ${file}: ${scenario.title} (${scenario.population} agents)`);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      for (const line of error.lines ?? [error.message]) {
        writeStdout(`bad ${line.startsWith(file) ? '' : `${file}: `}${line}`);
      }
      setExitCode(exitCodes.usage);
    }
  }
}

async function typeProblems(file: string, scripts: readonly string[], folder: string) {
  const { checkTypes } = await import('../../sim/agents/script/type-check.js');
  const checked = checkTypes(scripts, folder);
  if (checked?.typescript === null) {
    const advice = 'npm install --save-dev typescript';
    writeStderr(`${file}: types not checked: TypeScript is not installed; run ${advice}`);
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

/** Formats a value as YAML, without a trailing empty line. */
async function yamlLines(value: unknown): Promise<string[]> {
  const { Document, Scalar, visit } = await import('yaml');
  const document = new Document(value);
  visit(document, {
    Scalar(_, node) {
      const { value: text } = node;
      if (typeof text !== 'string') return;
      // A YAML block scalar preserves line feeds.
      const plain = text.replaceAll('\n', '');
      if (escapeControls(plain) !== plain) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString().trimEnd().split('\n');
}
