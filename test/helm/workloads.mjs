/** @returns the Deployments and Jobs, each with its name, manifest, pod and only container */
export function workloadsOf(manifests) {
  return manifests
    .filter(({ spec }) => spec?.template?.spec?.containers !== undefined)
    .map(({ kind, metadata, spec }) => {
      const { containers, initContainers = [] } = spec.template.spec;
      if (containers.length + initContainers.length !== 1) throw new Error(`${metadata.name} has several containers`);
      return { name: metadata.name, kind, spec, pod: spec.template, container: containers[0] };
    });
}

/** A rule for each Deployment and Job. `problem` returns what is wrong with it, if anything. */
export function workloadRule(title, problem) {
  const problems = (manifests) =>
    workloadsOf(manifests).flatMap((workload) => {
      const found = [problem(workload)].flat().filter(Boolean);
      return found.map((what) => `${workload.kind} ${workload.name}: ${what}`);
    });
  return { title, problems };
}

/** Returns the manifests of a kind. */
export function ofKind(manifests, kind) {
  return manifests.filter((manifest) => manifest.kind === kind);
}
