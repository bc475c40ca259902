/** A divergence that the command tells, as the page says one. */
import type { CommandDivergence } from '../../clock/proof.js';
import type { Parting } from '../../verify/messages.js';

const names: Readonly<Record<string, string>> = {
  entry: 'the entry',
  signature: 'the signature',
  outcome: 'what became of it',
  log_digest: 'the digest of the log',
  digest: 'the digest of what came of it',
  end: 'the end of the log',
};

export function partingOf(told: CommandDivergence): Parting {
  const { entry, kind, actor, what, which, field, expected, found } = told;
  const named = [which ?? names[what] ?? what, field].filter(Boolean).join(', ');
  const values = [expected, found].map((text) => (field === null ? null : memberOf(text, field)));
  // A member that neither has goes by another name than it is stored by: then all of it is shown.
  const [one, other] = values.every((value) => value === null) ? [expected, found] : values;
  return {
    ...{ entry, at: null, kind, actor: actor?.id ?? '', field: named },
    ...{ expected: one ?? 'nothing', found: other ?? 'nothing' },
  };
}

/** As JSON; null where it is not there. */
function memberOf(text: string, path: string): string | null {
  try {
    let value: unknown = JSON.parse(text);
    for (const name of path.split('.')) value = (value as Record<string, unknown>)[name];
    return value === undefined ? null : JSON.stringify(value);
  } catch {
    return null;
  }
}
