{{/*
Returns the environment of a container. `env` has its settings, `secrets` the names of those that are files. Settings
that would contradict the rest of the chart are refused.
*/}}
{{- define "item-listing.env" -}}
{{- $secrets := include "item-listing.secrets" . | fromJson -}}
{{- $ports := list "PORT" "ADMIN_PORT" "WORKER_PORT" -}}
{{- range $setting, $value := .env }}
{{- if has $setting $ports }}{{ fail (printf "Remove %s from env: the chart relies on the ports of the images" $setting) }}{{ end }}
{{- if and (has $setting (list "HOST" "ADMIN_HOST")) (regexMatch "^(127\\.|::1$|localhost$)" $value) }}
{{- fail (printf "Remove %s from env: probes cannot reach a loopback address" $setting) }}
{{- end }}
{{- if hasKey $secrets (trimSuffix "_FILE" $setting) }}
{{- fail (printf "Remove %s from env: name a Secret in secrets.%s instead" $setting (trimSuffix "_FILE" $setting)) }}
{{- end }}
- name: {{ $setting }}
  value: {{ $value | quote }}
{{- end }}
{{- range $setting := .secrets }}
{{- if (index $secrets $setting).name }}
- name: {{ $setting }}_FILE
  value: /etc/item-listing/{{ $setting }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Returns the settings of a component: its own, those of all processes, and defaults. */}}
{{- define "item-listing.settings" -}}
{{- $own := (index .root.Values .component).env -}}
{{- if hasKey $own "QUEUE_PREFIX" -}}
{{- fail (printf "Move QUEUE_PREFIX from %s.env to env: API and worker find each other by it" .component) -}}
{{- end -}}
{{- $settings := dict -}}
{{- /* Unlike `merge`, keeps empty values, which count as missing. */ -}}
{{- range $source := list .defaults .root.Values.env $own -}}
{{- range $setting, $value := $source }}{{ $_ := set $settings $setting $value }}{{ end -}}
{{- end -}}
{{- $settings | toJson -}}
{{- end -}}

{{/* Returns the secrets of a component: its own, and those of all processes. */}}
{{- define "item-listing.secrets" -}}
{{- merge (dict) ((index .root.Values .component).secrets | default dict) .root.Values.secrets | toJson -}}
{{- end -}}

{{/* Returns the volume with the secret settings of a pod. */}}
{{- define "item-listing.secretsVolume" -}}
{{- $secrets := include "item-listing.secrets" . | fromJson }}
- name: secrets
  projected:
    sources:
      {{- range $setting := .secrets }}
      {{- $secret := index $secrets $setting }}
      {{- if has $setting (list "MONGODB_URI" "REDIS_URL") }}
      {{- $_ := required (printf "Set secrets.%s.name to the Secret that contains %s" $setting $setting) $secret.name }}
      {{- end }}
      {{- if $secret.name }}
      - secret:
          name: {{ $secret.name }}
          items:
            - key: {{ $secret.key }}
              path: {{ $setting }}
      {{- end }}
      {{- end }}
{{- end -}}
