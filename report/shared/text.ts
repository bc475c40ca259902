/** Texts of others, as they can be shown: nothing in them is hidden or turns what is around. */

/**
 * What turns the direction of writing, takes no room or breaks lines; but for the joiners, which
 * scripts and emoji need.
 */
const hidden =
  /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

/** Characters that nobody would see, by their numbers: `[U+202E]`. */
export const visible = (text: string): string =>
  text.replace(hidden, (sign) => {
    const number = sign.charCodeAt(0).toString(16).toUpperCase();
    return `[U+${number.padStart(4, '0')}]`;
  });

/** For places with room for so many letters. */
export function shortened(text: string, most: number): string {
  const letters = [...visible(text)];
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`;
}
