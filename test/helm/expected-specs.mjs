const inNamespace = (name) => [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }];

const TO_DNS = {
  ports: [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ],
};
const TO_MONGODB = { ports: [{ port: 27017 }, { port: 27018 }], to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] };
const TO_REDIS = { ports: [{ port: 6380 }] };
const TO_OTHERS = { ports: [{ port: 443 }] };
const FROM_PROMETHEUS = { ports: [{ port: 'admin' }], from: inNamespace('monitoring') };

/** Returns the field of a pod that reads MONGODB_URI from a Secret. */
function fromSecret(name) {
  const items = [{ key: 'MONGODB_URI', path: 'MONGODB_URI' }];
  return { 'template.spec.volumes.0.projected.sources.0.secret': { name, items } };
}

/** What required.yaml and the defaults lead to: fields of the specification of each manifest, by path. */
export const REQUIRED = {
  'NetworkPolicy items-item-listing-api': { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 'http' }] }] },
  'NetworkPolicy items-item-listing-worker': { policyTypes: ['Ingress'], ingress: [] },
  'NetworkPolicy items-item-listing-setup': { policyTypes: ['Ingress'], ingress: [] },
};

/** What everything-on.yaml leads to. */
export const EVERYTHING_ON = {
  'NetworkPolicy shop-items-api': {
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: [{ port: 'http' }], from: inNamespace('gateway') }, FROM_PROMETHEUS],
    egress: [TO_DNS, TO_MONGODB, TO_REDIS, TO_OTHERS],
  },
  'NetworkPolicy shop-items-worker': {
    policyTypes: ['Ingress', 'Egress'],
    ingress: [FROM_PROMETHEUS],
    egress: [TO_DNS, TO_MONGODB, TO_REDIS, TO_OTHERS],
  },
  'NetworkPolicy shop-items-setup': {
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [TO_DNS, TO_MONGODB, TO_OTHERS],
  },
  'HorizontalPodAutoscaler shop-items-api': {
    minReplicas: 3,
    maxReplicas: 20,
    'metrics.length': 1,
    'metrics.0.resource': { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
  },
  'ScaledObject shop-items-worker': {
    pollingInterval: 5,
    minReplicaCount: 2,
    maxReplicaCount: 8,
    'fallback.replicas': 3,
    'triggers.length': 1,
    'triggers.0.metadata.serverAddress': 'http://prometheus-operated.monitoring:9090',
    'triggers.0.metadata.threshold': '1.5',
    'triggers.0.metadata.authModes': 'bearer',
    'triggers.0.authenticationRef': { kind: 'ClusterTriggerAuthentication', name: 'prometheus' },
  },
  'Job shop-items-setup': fromSecret('setup'),
  'Deployment shop-items-api': fromSecret('stores'),
  'Deployment shop-items-worker': fromSecret('stores'),
};
