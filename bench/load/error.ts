/** Why a run cannot begin: something that the user or the server has to mend, said in one line. */
export class LoadError extends Error {
  override name = 'LoadError';
}
