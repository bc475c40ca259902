/**
 * Texts of strangers. They are only ever text; what would turn around or hide the text beside them
 * is shown for what it is.
 */

/** Directions, invisible marks, and what else is drawn as nothing; emoji keep their colours. */
const TRICKS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}/gu;

/** The same without tricks, and no longer than that. */
export function plain(text: string, most = 200): string {
  const clean = text.slice(0, most * 4).replace(TRICKS, '\u00b7');
  const letters = [...clean];
  return letters.length <= most ? clean : `${letters.slice(0, most - 1).join('')}…`;
}

/** A name: on its own line of writing, so that it cannot turn what stands beside it. */
export function Name({ text, most = 48 }: { text: string; most?: number }) {
  return <bdi>{plain(text, most)}</bdi>;
}
