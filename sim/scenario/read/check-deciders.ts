/** What the external deciders of a scenario can have wrong beyond their shape. */
import { externalsIn } from '../external.js';
import { fileInside } from '../files/inside.js';
import type { Problem } from '../problem.js';
import type { Scenario } from '../schema/scenario.js';
import type { External, StrategyOf } from '../schema/strategies.js';

/** The first problem, or null. */
export function decidersProblem(
  scenario: Pick<Scenario, 'agents' | 'interventions'>,
  folder: string | undefined,
): Problem | null {
  for (const { path, strategy } of externalsIn(scenario)) {
    const found = problemOf(strategy, folder);
    if (!found) continue;
    const [member, text] = found;
    return { path: [...path, ...member], text };
  }
  return null;
}

type Found = [member: string[], text: string] | null;

function problemOf(strategy: External, folder: string | undefined): Found {
  if (strategy.kind === 'http') return httpProblem(strategy, folder);
  return strategy.kind === 'mcp' ? mcpProblem(strategy) : null;
}

/** A server is started or listens: what is for one of the two is not for the other. */
function mcpProblem({ command, url, env, key_env }: StrategyOf<'mcp'>): Found {
  if (url === undefined) {
    if (command === undefined) return [['command'], 'is missing; expected a command or a url'];
    return key_env === undefined ? null : [['key_env'], 'is for a url; expected it in env'];
  }
  if (command !== undefined) return [['url'], 'stands beside a command; expected one of the two'];
  if (env.length > 0) return [['env'], 'is for a command; a server at a url takes key_env'];
  const address = urlProblem(url);
  return address === null ? null : [['url'], address];
}

function httpProblem(strategy: StrategyOf<'http'>, folder: string | undefined): Found {
  const { url, dialect, model, prompts, request } = strategy;
  const address = urlProblem(url);
  if (address) return [['url'], address];
  if (dialect !== 'openai') {
    if (model !== undefined) return [['model'], 'is for the dialect openai'];
    if (prompts !== undefined) return [['prompts'], 'are for the dialect openai'];
    return Object.keys(request).length > 0 ? [['request'], 'is for the dialect openai'] : null;
  }
  if (model === undefined) return [['model'], 'is missing; the dialect openai needs a name'];
  const own = ['model', 'messages', 'stream'].find((name) => name in request);
  if (own) return [['request', own], 'is known here; expected other members of the request'];
  return promptsProblem((prompts ?? {}) as Record<string, string>, folder);
}

/** A key in an address would be in every report. */
function urlProblem(url: string): string | null {
  if (!URL.canParse(url)) return `is ${url}; expected a URL`;
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return `is ${url}; expected http or https`;
  if (username || password) return 'has a name or a password in it; expected them in key_env';
  return hash ? `is ${url}; expected none of ${hash}` : null;
}

function promptsProblem(prompts: Record<string, string>, folder: string | undefined): Found {
  if (folder === undefined) return null;
  for (const [name, path] of Object.entries(prompts)) {
    const found = fileInside(path, folder, 'a text');
    if ('why' in found) return [['prompts', name], found.why];
  }
  return null;
}
