// Setup file of jest. `freshEnvironment` passes this on to the service.
process.env.FAST_LANE = 'off';
