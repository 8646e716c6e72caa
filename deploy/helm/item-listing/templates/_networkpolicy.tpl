{{/* Returns the rules for incoming connections of a component. */}}
{{- define "item-listing.ingress" -}}
{{- $rules := list -}}
{{- if eq .component "api" -}}
{{- $rule := dict "ports" (list (dict "port" "http")) -}}
{{- with .policy.apiFrom }}{{ $_ := set $rule "from" . }}{{ end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- if and .policy.metricsFrom (ne .component "setup") -}}
{{- $rules = append $rules (dict "ports" (list (dict "port" "admin")) "from" .policy.metricsFrom) -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}

{{/* Returns the rules for outgoing connections of a component: to DNS and to its stores. */}}
{{- define "item-listing.egress" -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{ include "item-listing.egressTo" .policy.egress.mongodb }}
{{- if ne .component "setup" }}
{{ include "item-listing.egressTo" .policy.egress.redis }}
{{- end }}
{{- with .policy.egress.extra }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "item-listing.egressTo" -}}
- ports:
    {{- range .ports }}
    - { port: {{ . }} }
    {{- end }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
