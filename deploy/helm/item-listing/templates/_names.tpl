{{/* Returns the prefix of all names. Names with a suffix have at most 63 characters. */}}
{{- define "item-listing.fullname" -}}
{{- $name := .Values.fullnameOverride -}}
{{- if and (not $name) (contains .Chart.Name .Release.Name) -}}{{- $name = .Release.Name -}}{{- end -}}
{{- $name | default (printf "%s-%s" .Release.Name .Chart.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* Returns the labels by which a component is selected. They cannot be changed later. */}}
{{- define "item-listing.selectorLabels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "item-listing.labels" -}}
{{ include "item-listing.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "item-listing.metadata" -}}
name: {{ include "item-listing.fullname" .root }}-{{ .component }}
labels: {{- include "item-listing.labels" . | nindent 2 }}
{{- end -}}

{{/* Returns the name of the image of a target of the Dockerfile. */}}
{{- define "item-listing.image" -}}
{{- $all := .root.Values.image -}}
{{- $image := index $all .target -}}
{{- $repository := $image.repository -}}
{{- if not $repository -}}
{{- $prefix := required "Set image.repository to the prefix of your images, for example ghcr.io/acme/item-listing" $all.repository -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" $prefix) .target -}}
{{- end -}}
{{- printf "%s:%s" $repository ($image.tag | default $all.tag | default .root.Chart.AppVersion) -}}
{{- end -}}

{{/* Returns the most replicas that can run. */}}
{{- define "item-listing.maxReplicas" -}}
{{- .autoscaling.enabled | ternary .autoscaling.maxReplicas .replicas -}}
{{- end -}}
