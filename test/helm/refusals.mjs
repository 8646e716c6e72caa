const SCALED_WORKER = 'worker.autoscaling.enabled=true,worker.autoscaling.serverAddress=http://prometheus:9090';

/** Values that the chart refuses, and what the message says. All but the first are on top of required.yaml. */
export const REFUSALS = [
  { values: 'image.repository=', message: 'Set image.repository to the prefix of your images' },
  { values: 'secrets.MONGODB_URI.name=', message: 'Set secrets.MONGODB_URI.name to the Secret' },
  { values: 'secrets.REDIS_URL.name=', message: 'Set secrets.REDIS_URL.name to the Secret' },
  { values: 'api.publicSiteUrl=', message: 'Set api.publicSiteUrl to the URL of your site' },
  { values: 'api.publicSiteUrl=shop.example', message: /publicSiteUrl.*does not match pattern/ },
  { values: 'api.replica=3', message: /additional properties 'replica' not allowed/i },
  { values: 'api.drainSeconds=-1', message: /drainSeconds.*minimum/ },
  { values: 'secrets.MONGODB_URI.value=mongodb://host', message: /additional properties 'value' not allowed/i },
  { values: 'api.env.BACKLOG_LIMIT=5000', message: /BACKLOG_LIMIT.*want string/ },
  { values: 'api.env.backlogLimit=x', message: /backlogLimit/ },
  { values: 'env.PORT=x', message: 'Remove PORT from env: the chart relies on the ports of the images' },
  ...['api.env.ADMIN_HOST=127.0.0.1', 'env.HOST=::1', 'worker.env.HOST=localhost'].map((values) => ({
    values,
    message: /Remove (ADMIN_)?HOST from env: probes cannot reach a loopback address/,
  })),
  { values: 'worker.env.MONGODB_URI=mongodb://host', message: 'Remove MONGODB_URI from env: name a Secret' },
  { values: 'api.env.ADMIN_TOKEN_FILE=/token', message: 'Remove ADMIN_TOKEN_FILE from env: name a Secret' },
  { values: 'api.env.QUEUE_PREFIX=shop', message: 'Move QUEUE_PREFIX from api.env to env' },
  {
    values: 'worker.autoscaling.enabled=true',
    message: 'Set worker.autoscaling.serverAddress to the URL of Prometheus',
  },
  {
    values: 'api.autoscaling.enabled=true,api.autoscaling.minReplicas=11',
    message: 'Set api.autoscaling.maxReplicas to minReplicas or more',
  },
  {
    values: `${SCALED_WORKER},worker.autoscaling.minReplicas=11`,
    message: 'Set worker.autoscaling.maxReplicas to minReplicas or more',
  },
  {
    values: `${SCALED_WORKER},worker.autoscaling.authentication.modes=bearer`,
    message: 'Set worker.autoscaling.authentication.name to a TriggerAuthentication',
  },
  // A cluster would drop the unknown field, and the rest would allow more than was meant.
  ...['apiFrom[0]', 'metricsFrom[0]', 'egress.mongodb.to[0]', 'egress.extra[0].to[0]'].flatMap((peer) => [
    {
      values: `networkPolicy.${peer}.namespaceSelector.matchLabel.team=shop`,
      message: /additional properties 'matchLabel' not allowed/i,
    },
    { values: `networkPolicy.${peer}.cidr=10.1.0.0/16`, message: /additional properties 'cidr' not allowed/i },
  ]),
  { values: 'networkPolicy.egress.extra[0].port=443', message: /additional properties 'port' not allowed/i },
  { values: 'podMonitor.enabled=true', message: 'Set networkPolicy.metricsFrom to the pods of Prometheus' },
];
