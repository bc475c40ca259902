/**
 * Colours for reports and the UI. They follow Okabe and Ito, whose colours colour-blind readers can
 * tell apart, but are slightly darker on white and brighter on black. Series use `c1` to `c7` in
 * order. All remaining series use `c8`.
 */
export const palette = {
  light: {
    paper: '#fff',
    ink: '#1b1f23',
    faint: '#57606a',
    line: '#d0d7de',
    shade: '#f6f8fa',
    link: '#0550ae',
    good: '#00704f',
    bad: '#b54000',
    c1: '#0072b2',
    c2: '#d55e00',
    c3: '#009068',
    c4: '#b5579a',
    c5: '#a87400',
    c6: '#2f93c8',
    c7: '#6f6a00',
    c8: '#6b6f74',
  },
  dark: {
    paper: '#14171a',
    ink: '#e6e8ea',
    faint: '#a0a8b0',
    line: '#3a4047',
    shade: '#1d2125',
    link: '#7fb8f0',
    good: '#35c79a',
    bad: '#ff8f57',
    c1: '#4aa8e0',
    c2: '#f58143',
    c3: '#2ec79a',
    c4: '#e29bc9',
    c5: '#f0b429',
    c6: '#9bd6f7',
    c7: '#f0e442',
    c8: '#9aa0a6',
  },
} as const;

export type Theme = keyof typeof palette;
export type ColorName = keyof (typeof palette)['light'];

/** Builds CSS declarations: `--paper: #fff; ...`. */
export const declarations = (theme: Theme): string =>
  Object.entries(palette[theme])
    .map(([name, color]) => `--${name}: ${color};`)
    .join(' ');

/** Builds a CSS reference to the colour. */
export const variable = (name: ColorName): string => `var(--${name})`;

/** Number of series that get a distinct colour. */
export const COLORED = 7;

export const OTHERS = variable('c8');

/** Colour of the nth series. */
export const getColor = (index: number): string =>
  index < COLORED ? variable(`c${index + 1}` as ColorName) : OTHERS;

/** Dash patterns in series order, for readers who cannot tell the colours apart. */
const dashes = ['', '7 4', '2 3', '9 3 2 3', '12 4', '4 2', '1 5'] as const;

/** Dash pattern of the nth series; '' for a solid line. */
export const getDash = (index: number): string => dashes[index % dashes.length]!;

/* Outcomes of blocks and votes: their colours, symbols and meanings, identical in all charts. */

/** Symbol that tells series apart where colours cannot. */
export type Sign = 'circle' | 'cross' | 'times' | 'diamond' | 'square' | 'triangle';

interface Shown {
  color: ColorName;
  sign: Sign;
  /** Meaning of the outcome. */
  meaning: string;
}

/** Stacking order, from the bottom. */
export const outcomes = {
  finalized: { color: 'c1', sign: 'circle', meaning: 'enough electors approved' },
  rejected: { color: 'c2', sign: 'times', meaning: 'enough electors rejected' },
  expired: { color: 'c5', sign: 'cross', meaning: 'its voting period ended without a decision' },
  orphaned: { color: 'c8', sign: 'diamond', meaning: 'another block of its height was finalized' },
} as const satisfies Record<string, Shown>;

export type OutcomeName = keyof typeof outcomes;

export const outcomeNames = Object.keys(outcomes) as OutcomeName[];

export const decisions = {
  approve: { color: 'c1', sign: 'square', meaning: 'for the block' },
  reject: { color: 'c2', sign: 'times', meaning: 'against the block' },
} as const satisfies Record<string, Shown>;
