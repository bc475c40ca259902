/** Engine time as it is shown. */

/** The second shown last, with its text: what is near it differs in the milliseconds alone. */
let second = Number.NaN;
let prefix = '';

export function instantText(at: number): string {
  const ms = at % 1_000;
  if (at - ms !== second) {
    second = at - ms;
    prefix = new Date(at).toISOString().slice(0, -4);
  }
  return `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}
