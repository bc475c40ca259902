/** What the page may ask of its worker, by name: answered from the picture that is shown. */
import type { Picture, SaidKind } from '../../api/view/model.js';
import { happenings } from './answers/happenings.js';
import { type Before, opinionOf } from './answers/opinion.js';
import { saidBefore } from './answers/said.js';
import { agreements, votesOf } from './answers/votes.js';
import type { Source } from './source.js';

export interface Known {
  picture: Picture | null;
  source: Source;
}

export type Answer = (known: Known, parameters: never) => unknown;

/** Ballots of a block that is shown: number of the agent * 2, plus 1 for reject. */
const ballots: Answer = ({ picture }, block: number) =>
  Uint32Array.from(picture?.blocks.find(({ number }) => number === block)?.ballots ?? []);

const opinion: Answer = ({ picture }, before: Before | null) => ({
  opinion: picture && opinionOf(picture, before),
});
const votes: Answer = ({ picture }, agent: number) => (picture ? votesOf(picture, agent) : []);
const alike: Answer = ({ picture }) => (picture ? agreements(picture) : []);
const around: Answer = ({ source }, { from, to }: { from: number; to: number }) =>
  happenings(source, from, to);

const said: Answer = ({ source }, of: { before: number; kind: SaidKind | null }) =>
  saidBefore(source, of);

export const answers: Readonly<Record<string, Answer>> = {
  ...{ ballots, opinion, votes, alike, around, said },
};
