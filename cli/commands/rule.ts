import type { RuleLine } from '../../engine/protocol/schema/genesis.js';
import type { BallotSchema } from '../../engine/rules/ballots.js';
import type { Rule } from '../../engine/rules/rule.js';
import type { RuleChecked, RuleViolation } from '../../sim/rules/check.js';
import type { ChosenRule, GivenParameters, NoRule } from '../../sim/rules/chosen-rule.js';
import { CliCommand, integer } from '../options/options.js';
import { expectRule, parameterOption, ruleSyntax } from '../options/rule.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, wrapWords, writeStderr, writeStdout } from '../output/output.js';
import { showCount } from '../output/progress.js';

export function ruleCommand(): CliCommand {
  const rule = new CliCommand('rule')
    .description('list, show and check decision rules')
    .notes(`
A decision rule says when a block is finalized, rejected or expired, and which
of its options is chosen. See docs/rules.md.`)
    .examples('rule list', 'rule show schulze', 'rule check sixty.js');
  rule
    .command('list')
    .description('list the named rules')
    .option('--json', 'print one JSON array')
    .examples('rule list', 'rule list --json', "rule list --json | jq -r '.[].name'")
    .action(list);
  rule
    .command('show')
    .description('print a rule, its parameters and its ballot schema')
    .argument('<rule>', ruleSyntax)
    .option('--json', 'print one JSON object')
    .notes('A module is loaded in a sandbox.')
    .examples('rule show schulze', 'rule show sixty.js', 'rule show score --json | jq .ballot')
    .action(show);
  addCheck(rule);
  return rule;
}

function addCheck(rule: CliCommand): void {
  rule
    .command('check')
    .description('check a rule with random polls')
    .argument('<rule>', ruleSyntax)
    .addOption(parameterOption())
    .option('--seed <text>', 'random seed for the polls', '1')
    .option('--polls <n>', 'number of polls', integer(1, 1_000_000), 200)
    .option('--json', 'print one JSON object')
    .notes(`
Counts random polls with random ballots that the rule accepts. Compares counter
with tally after each vote. The rule must not fail on an accepted ballot, must
decide each poll that is over, and must keep its decision when further votes
follow. Verdicts contain integers only. A module runs in a sandbox. Prints its
SHA-256, the outcomes, and the time for a vote as a multiple of the time under
bft. Warns about outcomes and lines that occur in no poll.

Exits with code 12 if the file contains no rule, or the rule violates this
contract.`)
    .examples(
      'rule check sixty.js',
      'rule check sixty.js --parameter for_bps=7500',
      'rule check town.yaml --polls 5000 --seed 7',
      'rule check sixty.js --json | jq .sha256',
    )
    .action(check);
}

/** Rule as `list` and `show` print it. */
function describeRule(rule: Rule) {
  const isWeight = 'decide' in rule;
  const { usesOptions = false, decidesEarly = false, ballot = null } = isWeight ? {} : rule;
  return {
    title: rule.title,
    kind: isWeight ? 'weight' : 'vote',
    decides_early: isWeight ? null : decidesEarly,
    chooses: usesOptions,
    parameters: rule.parameters,
    ballot,
    source: rule.source ?? null,
  } as const;
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const { library } = await import('../../engine/rules/bundled/library.js');
  const rules = Object.entries(library).map(([name, rule]) => ({ name, ...describeRule(rule) }));
  if (json) return printJson(rules);
  const widest = Math.max(...rules.map(({ name }) => name.length));
  for (const { name, title, parameters, ballot } of rules) {
    writeStdout(`${name.padEnd(widest)}  ${title}`);
    const values = Object.entries(parameters).map(([of, { default: value }]) => `${of} ${value}`);
    const indent = ' '.repeat(widest + 2);
    if (values.length > 0) writeStdout(`${indent}parameters: ${values.join(', ')}`);
    if (ballot) writeStdout(`${indent}ballot: ${describeSchema(ballot)}`);
  }
}

async function show(named: string, { json }: { json?: boolean }): Promise<void> {
  const chosen = await expectRule('rule', named);
  const { definitions } = await import('../../engine/rules/bundled/definitions.js');
  const { rule, genesis, sha256 } = chosen;
  const { lines = null, source: module = null } = genesis.rule ?? {};
  const definition = Object.hasOwn(definitions, genesis.policy)
    ? definitions[genesis.policy]
    : null;
  const shown = { rule: named, policy: genesis.policy, ...describeRule(rule.rule), definition };
  if (json) return printJson({ ...shown, lines, module, sha256 });
  const { kind, title, parameters, ballot, source, decides_early, chooses } = shown;
  const about = [
    kind === 'weight' ? 'decides by weight' : 'reads individual votes',
    ...(chooses ? ["chooses one of a block's options"] : []),
    ...(decides_early === false ? ['decides at the end of voting'] : []),
  ];
  writeStdout(`${named}: ${title}`, `kind        ${kind} rule: ${about.join(', ')}`);
  for (const paragraph of definition ?? []) writeStdout('', ...wrapWords(paragraph, COLUMNS));
  if (lines) writeStdout('', ...lines.map(describeLine));
  if (module !== null) writeStdout('', ...module.trimEnd().split('\n'));
  writeStdout('', 'Parameters:', ...parameterLines(parameters));
  writeStdout('', `Ballot: ${ballot ? describeSchema(ballot) : 'none'}`);
  if (ballot) writeStdout(...JSON.stringify(ballot, null, 2).split('\n'));
  if (source !== null) writeStdout('', `Source: ${source}`);
  if (sha256 !== null) writeStdout('', `SHA-256: ${sha256}`);
}

function parameterLines(parameters: Rule['parameters']): string[] {
  const lines = Object.entries(parameters).map(([name, one]) => {
    const { about, default: value, minimum, maximum } = one;
    return `  ${name}: ${about} (default ${value}, from ${minimum} to ${maximum})`;
  });
  return lines.length === 0 ? ['  none'] : lines;
}

/** Formats an inequality as in docs/rules.md. */
function describeLine({ if: factors, over, ...line }: RuleLine): string {
  const terms = Object.entries(factors).map(([term, factor]) => `${factor} ${term}`);
  const sum = terms.join(' + ').replaceAll('+ -', '- ');
  return `${line.then} if ${sum} > 0${over ? ', at the end of voting' : ''}`;
}

/** Formats a schema as a short example of its values. */
function describeSchema(schema: BallotSchema): string {
  switch (schema.type) {
    case 'string':
      return schema.enum?.map((one) => JSON.stringify(one)).join('|') ?? 'text';
    case 'integer':
      return `${schema.minimum}..${schema.maximum}`;
    case 'array':
      return `[${describeSchema(schema.items)}, ...]`;
    case 'object': {
      if (!('properties' in schema))
        return `{text: ${describeSchema(schema.additionalProperties)}}`;
      const members = Object.entries(schema.properties).map(([name, of]) => {
        return `${name}${schema.required?.includes(name) ? '' : '?'}: ${describeSchema(of)}`;
      });
      return `{${members.join(', ')}}`;
    }
    default:
      return schema.anyOf.map(describeSchema).join('|');
  }
}

const COLUMNS = 80;

interface CheckFlags {
  parameter?: GivenParameters;
  seed: string;
  polls: number;
  json?: boolean;
}

async function check(named: string, flags: CheckFlags): Promise<void> {
  const { chooseRule } = await import('../../sim/rules/chosen-rule.js');
  const chosen = await chooseRule(named, flags.parameter);
  if ('problem' in chosen) return refuse(named, chosen, flags.json);
  const { checkRule } = await import('../../sim/rules/check.js');
  const { signal, end } = interruption();
  const progress = showCount(flags.polls, 'polls');
  const { seed, polls } = flags;
  const onProgress = (done: number) => progress.update(done);
  const { lines } = chosen.genesis.rule ?? {};
  const checked = await checkRule(chosen.rule, { seed, polls, lines, signal, onProgress });
  progress.stop();
  if (signal.aborted) {
    writeStderr(`folkmoot: interrupted after ${checked.polls} of ${polls} polls; no result`);
    return end();
  }
  const { sha256, rule } = chosen;
  if (flags.json) printJson({ rule: named, parameters: rule.values, sha256, ...checked });
  else writeStdout(...checkedLines(chosen, checked));
  if (!checked.holds) setExitCode(exitCodes.differs);
}

/** Reports a file without a rule. A wrong name, path or parameter is a usage error. */
function refuse(named: string, { problem, inFile }: NoRule, json = false): void {
  if (!inFile) throw new UsageError('INVALID_ARGUMENT', { option: 'rule', value: named, problem });
  if (json) printJson({ rule: named, holds: false, problem });
  else writeStderr(`folkmoot: invalid rule: ${named}: ${problem}`);
  setExitCode(exitCodes.differs);
}

function checkedLines({ label, sha256 }: ChosenRule, checked: RuleChecked): string[] {
  const { holds, polls, votes, ballots, violations, example, speed, seed } = checked;
  const problems = violations.map(violationText);
  return [
    `${holds ? 'ok' : 'bad'} ${label}: ${polls} polls, ${votes} votes, seed ${seed}`,
    ...(ballots.votes > 0 ? [`ballots   ${ballots.accepted} of ${ballots.votes} accepted`] : []),
    ...(ballots.votes > 0 && ballots.accepted === 0
      ? ['          The polls contain no ballots, because the rule accepted none.']
      : []),
    ...(holds ? outcomeLines(checked) : problems),
    ...(example ? [`example   ${JSON.stringify(example)}`] : []),
    ...(speed ? [`speed     ${speed.times_bft} times the time that bft takes for a vote`] : []),
    ...(sha256 === null ? [] : [`SHA-256   ${sha256}`]),
  ];
}

/** Lists the outcomes. Warns about outcomes that no poll has, and lines that decide no poll. */
function outcomeLines({ outcomes, deciding }: RuleChecked): string[] {
  const counts = Object.entries(outcomes);
  const unused = (deciding ?? []).flatMap((polls, at) => (polls === 0 ? [at + 1] : []));
  return [
    `outcomes  ${counts.map(([status, polls]) => `${polls} ${status}`).join(', ')}`,
    ...counts.flatMap(([status, polls]) => (polls > 0 ? [] : [`warning   no poll is ${status}`])),
    ...unused.map((line) => `warning   line ${line} decides no poll`),
  ];
}

const faultTexts: Readonly<Partial<Record<RuleViolation['code'], string>>> = {
  RULE_THREW: 'the rule threw an exception',
  RULE_TIMEOUT: 'the rule exceeds its work limit',
  RULE_MEMORY: 'the rule exceeds its memory limit',
};

function violationText(violation: RuleViolation): string {
  const { code, poll, votes, over, expected, found, thrown } = violation;
  const place = `poll ${poll} after ${votes} votes${over ? ', over' : ''}`;
  const verdicts = [expected, found].map((verdict) => JSON.stringify(verdict));
  const fault = thrown ?? faultTexts[code];
  if (fault !== undefined) return `violates  ${code} in ${place}: ${fault}`;
  if (verdicts[0] === verdicts[1]) return `violates  ${code} in ${place}: ${verdictText(over)}`;
  return `violates  ${code} in ${place}: expected ${verdicts[0]}, found ${verdicts[1]}`;
}

const verdictText = (over: boolean): string =>
  over ? 'no decision at the end of voting, or an invalid verdict' : 'an invalid verdict';
