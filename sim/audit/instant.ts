/** Engine time as it is shown. Most of a step happens at one instant, so the last text is kept. */

let lastInstant = -1;
let lastText = '';

export function instantText(at: number): string {
  if (at !== lastInstant) {
    lastText = new Date(at).toISOString();
    lastInstant = at;
  }
  return lastText;
}
