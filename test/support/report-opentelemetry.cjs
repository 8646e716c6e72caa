// Reports, as a line of the log, which packages of OpenTelemetry a process has loaded until it exits.
process.once('exit', () => {
  const packages = Object.keys(require.cache).flatMap((path) => /@opentelemetry\/[\w-]+/.exec(path) ?? []);
  console.log(JSON.stringify({ msg: 'loaded packages of OpenTelemetry', packages: [...new Set(packages)] }));
});
