import { type Approvals, approvals, createElection, electAt, OPTIONS } from '../election.js';

/** Least common multiple of 1 to 16, so that the share of a ballot is always an integer. */
const WHOLE = 720_720;

/**
 * Elects a committee of options, seat by seat: a ballot that approves k members counts for a
 * further option with 1 / (k + 1) of its weight. `choice` is the first member. `standings` show the
 * committee: with s seats the first member has s, the last 1, and all other options 0. A block is
 * finalized if more weight approves than rejects. Of options with equal weight, the first wins.
 */
export const rule = createElection<Approvals>({
  title: 'More weight approves than rejects; a proportional committee of options is elected',
  source:
    'Thiele 1895, Om flerfoldsvalg; Lackner and Skowron 2023, Multi-Winner Voting with Approval ' +
    'Preferences, Springer, section 2.2 (sequential proportional approval voting)',
  parameters: {
    seats: { about: 'options to elect', default: 3, minimum: 1, maximum: OPTIONS },
  },
  ...approvals,
  elect(preferences, options, { seats }) {
    const ballots = preferences.map(({ weight, ballot: { approved } }) => {
      return { weight, approved: approved.map((name) => options.indexOf(name)), elected: 0 };
    });
    const size = Math.min(seats!, options.length);
    const places = options.map(() => 0);
    for (let place = size; place > 0; place -= 1) {
      // A score is below 2^27 * 720,720, and thus a safe integer.
      const scores = places.map((taken): number => (taken > 0 ? -1 : 0));
      for (const { weight, approved, elected } of ballots) {
        const share = (weight * WHOLE) / (elected + 1);
        for (const option of approved) if (places[option] === 0) scores[option]! += share;
      }
      const member = scores.indexOf(Math.max(...scores));
      places[member] = place;
      for (const one of ballots) if (one.approved.includes(member)) one.elected += 1;
    }
    return electAt(options, places, places.indexOf(size));
  },
});
