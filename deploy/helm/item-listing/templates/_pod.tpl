{{/* Returns the metadata of a pod, without versions: a new version of the chart alone restarts no pod. */}}
{{- define "item-listing.podMetadata" -}}
labels:
  {{- include "item-listing.selectorLabels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Returns what the specifications of all pods have in common. */}}
{{- define "item-listing.podSpec" -}}
automountServiceAccountToken: false
# Otherwise a Service named `worker` would set WORKER_PORT.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  # The user `node` of the images, whose name says nothing about root.
  runAsUser: 1000
  runAsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  {{- include "item-listing.secretsVolume" . | nindent 2 }}
  {{- with .root.Values.extraVolumes }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end -}}

{{/* Returns what all containers have in common. */}}
{{- define "item-listing.container" -}}
image: {{ include "item-listing.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
resources: {{- toYaml (index .root.Values .component).resources | nindent 2 }}
env: {{- include "item-listing.env" (merge (dict "env" (include "item-listing.settings" . | fromJson)) .) | trim | nindent 2 }}
volumeMounts:
  - name: secrets
    mountPath: /etc/item-listing
    readOnly: true
  {{- with .root.Values.extraVolumeMounts }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end -}}

{{/* Spreads the pods of each revision of a component over zones and nodes, as far as there are any. */}}
{{- define "item-listing.spread" -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels: {{- include "item-listing.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "item-listing.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "item-listing.fullname" .) "default") -}}
{{- end -}}
