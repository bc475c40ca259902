/** Engine time as it is shown. */

/** The instant shown last, which one step shows more than once. */
let latest = { at: Number.NaN, text: '' };
/** Its second, with its text: what is near it differs in the milliseconds alone. */
let second = Number.NaN;
let prefix = '';

export function instantText(at: number): string {
  if (at !== latest.at) latest = { at, text: textOf(at) };
  return latest.text;
}

function textOf(at: number): string {
  const ms = at % 1_000;
  if (at - ms !== second) {
    second = at - ms;
    prefix = new Date(at).toISOString().slice(0, -4);
  }
  return `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}
