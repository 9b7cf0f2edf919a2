{{- define "esr.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "esr.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "esr.labels" -}}
{{ include "esr.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "esr.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* "yes" for an index folder, else nothing. */ -}}
{{- define "esr.folder" -}}
{{ if not (contains "://" .Values.index) }}yes{{ end }}
{{- end }}

{{- define "esr.claim" -}}
{{ .Values.persistence.existingClaim | default (include "esr.name" .) }}
{{- end }}

{{- define "esr.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "esr.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* The environment of a server's client: its arguments are the values and the name of the secret. */ -}}
{{- define "esr.serverEnvironment" -}}
{{- if .secret }}
- name: ESR_API_KEY_FILE
  value: /own/key
{{- if .values.server.ca }}
- name: ESR_CA_FILE
  value: /own/ca.crt
{{- end }}
{{- end }}
{{- end }}
