/** The words of an option, taken one after another; a mistake names the word and its place. */
import { ScenarioError } from '../../scenario/problem.js';

/** Bounds the work of parsing a value, and the length of the errors that quote the text. */
const MOST_CHARACTERS = 16_384;

export class Words {
  readonly #option: string;
  readonly #text: string;
  readonly #words: { word: string; at: number }[];
  #next = 0;

  /** @throws {ScenarioError} when the text is too long. */
  constructor(option: string, text: string) {
    if (text.length > MOST_CHARACTERS) {
      const limit = `expected at most ${MOST_CHARACTERS}`;
      throw new ScenarioError(`${option} has ${text.length} characters; ${limit}`);
    }
    this.#option = option;
    this.#text = text;
    this.#words = Array.from(text.matchAll(/[^ \t\r\n]+/g), ({ 0: word, index }) => ({
      word,
      at: index + 1,
    }));
  }

  get peek(): string | undefined {
    return this.#words[this.#next]?.word;
  }

  /** The next word, which must be one of these. */
  one<W extends string>(...expected: W[]): W {
    const word = this.peek as W | undefined;
    if (word === undefined || !expected.includes(word)) throw this.wrong(expected.join(' or '));
    this.#next += 1;
    return word;
  }

  /** Whether the next word is this one; if so, it is taken. */
  taken(word: string): boolean {
    if (this.peek !== word) return false;
    this.#next += 1;
    return true;
  }

  /** The next word, whatever it is. */
  any(expected: string): string {
    const word = this.peek;
    if (word === undefined) throw this.wrong(expected);
    this.#next += 1;
    return word;
  }

  /** The words up to one of these, which is left. */
  until(stop: string, expected: string): string {
    const words: string[] = [];
    while (this.peek !== undefined && this.peek !== stop) words.push(this.any(expected));
    if (words.length === 0) throw this.wrong(expected);
    return words.join(' ');
  }

  /** All that is left, as it stands there. */
  rest(expected: string): string {
    const from = this.#words[this.#next];
    if (!from) throw this.wrong(expected);
    this.#next = this.#words.length;
    return this.#text.slice(from.at - 1).trimEnd();
  }

  end(): void {
    if (this.peek !== undefined) throw this.wrong('nothing more');
  }

  wrong(expected: string): ScenarioError {
    const { word, at } = this.#words[this.#next] ?? { word: null, at: this.#text.length + 1 };
    const found = word === null ? 'it ends' : `there is ${word}`;
    const option = `${this.#option} '${this.#text}'`;
    return new ScenarioError(`${option}: at character ${at} ${found}; expected ${expected}`);
  }
}
