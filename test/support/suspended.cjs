// Loaded into a process with `node --require`. On SIGUSR2, moves `performance.now` and `Date.now` forward by six minutes, as
// if the process had been suspended, and says so in its log.
const SUSPENDED_MS = 6 * 60_000;
let suspendedMs = 0;

for (const clock of [performance, Date]) {
  const now = clock.now.bind(clock);
  clock.now = () => now() + suspendedMs;
}

process.on('SIGUSR2', () => {
  suspendedMs += SUSPENDED_MS;
  console.log(JSON.stringify({ msg: 'suspended' }));
});
