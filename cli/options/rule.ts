/** Options that name decision rules and set their parameters. */
import { Option } from 'commander';
import type { ChosenRule, GivenParameters, NoRule } from '../../sim/rules/chosen-rule.js';
import { UsageError } from '../output/exit.js';
import { typed } from './options.js';

export const ruleSyntax = 'rule name, module (.js, .mjs) or lines (.yaml, .json)';

/** Option for parameters, which may be repeated, and whose value may be a comma-separated list. */
export const parameterOption = (): Option =>
  new Option('--parameter <name=n>', 'parameter of the rule, may be repeated').argParser(
    typed<GivenParameters>(
      { type: 'array', items: { type: 'string', pattern: parameterPattern.source } },
      (value, before) => ({ ...before, ...parseParameters(value) }),
      (parameters) => Object.entries(parameters).map(([name, n]) => `${name}=${n}`),
    ),
  );

const parameterPattern = /^([a-z][a-z0-9_]{0,31})=(-?\d{1,15})$/;

/** Parses `for_bps=6000,turnout_bps=0`. @throws {UsageError} */
export const parseParameters = (text: string): GivenParameters =>
  Object.assign({}, ...text.split(',').map(parseParameter));

function parseParameter(text: string): GivenParameters {
  const [, name, number] = parameterPattern.exec(text) ?? [];
  if (name !== undefined) return { [name]: Number(number) };
  const expected = 'NAME=INTEGER, such as for_bps=6000';
  throw new UsageError('INVALID_VALUE', { option: '--parameter', value: text, expected });
}

/** Returns the rule. @throws {UsageError} if the name or the file gives no rule. */
export async function expectRule(
  option: string,
  named: string,
  parameters: GivenParameters = {},
): Promise<ChosenRule> {
  const { chooseRule } = await import('../../sim/rules/chosen-rule.js');
  const found: ChosenRule | NoRule = await chooseRule(named, parameters);
  if (!('problem' in found)) return found;
  throw new UsageError('INVALID_ARGUMENT', { option, value: named, problem: found.problem });
}

/** A module: its text and the SHA-256 of the text. */
export interface ReadModule {
  source: string;
  sha256: string;
}

/**
 * Reads a module, and loads it in the sandbox with its default parameters.
 *
 * @throws {UsageError} if the file contains no module.
 */
export async function expectModule(option: string, file: string): Promise<ReadModule> {
  const { chooseModule } = await import('../../sim/rules/chosen-rule.js');
  const found = await chooseModule(file);
  if (!('problem' in found)) return { source: found.genesis.rule!.source!, sha256: found.sha256! };
  throw new UsageError('INVALID_ARGUMENT', { option, value: file, problem: found.problem });
}
