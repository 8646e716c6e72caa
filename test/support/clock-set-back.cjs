// Loaded into a process with `node --require`. On SIGUSR2, sets its clock back by an hour and says so in its log.
const HOUR_MS = 3_600_000;
const OriginalDate = Date;
let behindMs = 0;

globalThis.Date = class Date extends OriginalDate {
  constructor(...parts) {
    if (parts.length === 0) super(OriginalDate.now() - behindMs);
    else super(...parts);
  }
  static now() {
    return OriginalDate.now() - behindMs;
  }
};

process.on('SIGUSR2', () => {
  behindMs += HOUR_MS;
  console.log(JSON.stringify({ msg: 'clock set back' }));
});
