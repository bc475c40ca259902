/** HTML as text: whatever is put into a template is escaped, unless it is HTML already. */
import { visible } from './shared/text.js';

export class Html {
  constructor(readonly text: string) {}
}

export type Content = Html | string | number | null | readonly Content[];

/** Puts values into markup: texts escaped, lists one after another, null as nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const texts = parts.map((part, index) => part + textOf(values[index] ?? null));
  return new Html(texts.join(''));
}

function textOf(value: Content): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return escaped(String(value));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign]!);

/** What no HTML document may hold, halves of characters and what hides, shown as such. */
export function wellFormed(text: string): string {
  const forbidden = /(?![\t\n\r])[\p{Cc}\p{Noncharacter_Code_Point}]/gu;
  return visible(text.toWellFormed().replace(forbidden, '\ufffd'));
}
