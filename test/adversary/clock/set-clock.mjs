/** Imported into a server. Offsets the server's wall clock on request by message. */
const Wall = Date;
let offset = Number(process.env.FOLKMOOT_TEST_CLOCK_MS ?? 0);

globalThis.Date = class extends Wall {
  constructor(...parts) {
    if (parts.length === 0) super(Wall.now() + offset);
    else super(...parts);
  }

  static now() {
    return Wall.now() + offset;
  }
};

process.on('message', (milliseconds) => {
  offset = Number(milliseconds);
  process.send(offset);
});
