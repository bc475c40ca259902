/** What a cassette is called in the folder of a run: read where nobody outside decides, too. */
export const CASSETTE_FILE = 'decisions.cassette';
