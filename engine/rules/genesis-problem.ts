/**
 * Checks network parameters together with their decision rule. Separate from the rules, because it
 * loads the compiled schemas, which the page does not need.
 */
import { findGenesisShapeProblem, type Problem } from '../protocol/schema/validate.js';
import { findRuleProblem, type RuleGenesis } from './network-rule.js';

/** Returns the first problem in network parameters, or null. */
export function findGenesisProblem(value: unknown): Problem | null {
  return findGenesisShapeProblem(value) ?? findRuleProblem(value as RuleGenesis);
}
