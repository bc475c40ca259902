/**
 * Decision rules that an operator names on a command line: a rule of the library by its name, a
 * module, or lines in a YAML or JSON file. Only a file that is named directly can contain a module,
 * so no other file chooses code to run.
 */
import { extname } from 'node:path';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { genesisDefaults, type RuleOptions } from '../../engine/protocol/schema/genesis.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { nearest } from '../../engine/protocol/text.js';
import { policies } from '../../engine/rules/bundled/policies.js';
import { findGenesisProblem } from '../../engine/rules/genesis-problem.js';
import { type NetworkRule, type RuleGenesis, ruleOf } from '../../engine/rules/network-rule.js';
import { prepareSandbox } from '../../engine/rules/sandbox.js';
import { FileTooLarge, readBounded } from '../../engine/store/folder.js';
import { readYamlValue } from '../scenario/load.js';

/** Parameters of a rule as given, by name. */
export type GivenParameters = Readonly<Record<string, number>>;

export interface ChosenRule {
  /** Name or file, as given. */
  named: string;
  /** Name or file, with the given parameters. */
  label: string;
  rule: NetworkRule;
  /** Network parameters with this rule. */
  genesis: RuleGenesis & { rule?: RuleOptions };
  /** SHA-256 of the text of a module; null for other rules. */
  sha256: string | null;
}

/** A file or a name that gives no rule, or parameters that the rule does not have. */
export interface NoRule {
  problem: string;
  /** True if the contents of a file are the problem. */
  inFile: boolean;
}

/** A module in UTF-8 has at most four bytes for each of its characters. */
const MODULE_BYTES = 65_536;

const moduleEndings = ['.js', '.mjs'];
const lineEndings = ['.yaml', '.yml', '.json'];

/** Returns the rule with parameters, or the problem. @throws {ScenarioError} if not YAML. */
export async function chooseRule(
  named: string,
  parameters: GivenParameters = {},
): Promise<ChosenRule | NoRule> {
  const read = readGenesis(named);
  return 'problem' in read ? read : createChosen(named, read, parameters);
}

/** Returns the rule of a module, whose file may have any extension, or the problem. */
export async function chooseModule(
  file: string,
  parameters: GivenParameters = {},
): Promise<ChosenRule | NoRule> {
  const read = readModule(file);
  return 'problem' in read ? read : createChosen(file, read, parameters);
}

async function createChosen(
  named: string,
  read: Read,
  parameters: GivenParameters,
): Promise<ChosenRule | NoRule> {
  const { policy } = read;
  const merged = { ...read.rule?.parameters, ...parameters };
  const rule = Object.keys(merged).length > 0 ? { ...read.rule, parameters: merged } : read.rule;
  if (policy === 'module') await prepareSandbox();
  const genesis = { policy, ...(rule === undefined ? {} : { rule }) };
  const found = findGenesisProblem({ ...genesisDefaults, network_id: 'any', ...genesis });
  if (found !== null) {
    const isGiven = found.pointer.startsWith('/rule/parameters');
    return { problem: describe(found), inFile: !isGiven };
  }
  return {
    named,
    label: labelOf(named, parameters),
    rule: ruleOf(genesis),
    genesis,
    sha256: policy === 'module' ? sha256Hex(rule!.source!) : null,
  };
}

const labelOf = (named: string, parameters: GivenParameters): string =>
  [named, ...Object.entries(parameters).map(([name, value]) => `${name}=${value}`)].join(' ');

function describe({ pointer, message, value }: NonNullable<ReturnType<typeof findGenesisProblem>>) {
  const place = pointer.replace(/^\/rule\/(?:source$)?/, '').replaceAll('/', '.');
  const shown = value === undefined ? '' : `: ${value}`;
  return place === '' ? `the module ${message}` : `${place}${shown} ${message}`;
}

interface Read {
  policy: string;
  rule?: RuleOptions;
}

function readGenesis(named: string): Read | NoRule {
  if (policies.includes(named)) return { policy: named };
  const ending = extname(named).toLowerCase();
  if (lineEndings.includes(ending)) return readLines(named);
  if (!moduleEndings.includes(ending)) {
    const advice = nearest(named, policies) ?? `one of ${policies.join(', ')}`;
    const files = [...moduleEndings, ...lineEndings].join(', ');
    const problem = `names no rule; use ${advice}, or a file that ends in ${files}`;
    return { problem, inFile: false };
  }
  return readModule(named);
}

/** Throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the text of a module, without running it. */
function readModule(file: string): Read | NoRule {
  try {
    return { policy: 'module', rule: { source: utf8.decode(readBounded(file, MODULE_BYTES)) } };
  } catch (error) {
    if (error instanceof FileTooLarge) return { problem: error.message, inFile: false };
    const isText = (error as { code?: string }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    if (!isText) return { problem: 'is not a UTF-8 text', inFile: true };
    return { problem: `cannot be read: ${describeSystemError(error)}`, inFile: false };
  }
}

/** Reads lines: `lines` itself, or a scenario or genesis that contains them. */
function readLines(file: string): Read | NoRule {
  const value = memberOf(readYamlValue(file));
  const at = value.consensus === undefined ? value : memberOf(value.consensus);
  const rule = at.rule === undefined ? at : memberOf(at.rule);
  const policy = at.policy ?? (rule.lines === undefined ? undefined : 'lines');
  if (policy === 'module') {
    const problem = 'names a module in another file; give the file of the module itself';
    return { problem, inFile: true };
  }
  if (typeof policy !== 'string') {
    const problem = 'contains no rule; expected lines, or consensus with policy and rule';
    return { problem, inFile: true };
  }
  const { lines, parameters } = rule;
  const options = {
    ...(lines === undefined ? {} : { lines }),
    ...(parameters === undefined ? {} : { parameters }),
  };
  return Object.keys(options).length === 0
    ? { policy }
    : { policy, rule: options as unknown as RuleOptions };
}

const memberOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
