// Loaded into a process with `node --require`. On SIGUSR2, moves its monotonic clock forward by a minute, as if the process
// had been suspended, and says so in its log.
const now = performance.now.bind(performance);
let suspendedMs = 0;

performance.now = () => now() + suspendedMs;

process.on('SIGUSR2', () => {
  suspendedMs += 60_000;
  console.log(JSON.stringify({ msg: 'suspended' }));
});
