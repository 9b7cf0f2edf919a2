#!/usr/bin/env bash
# Starts a Docker daemon of its own for whoever waits on this script: `daemon.sh FOLDER`. It listens at
# FOLDER/docker.sock, has its files there, keeps images where Docker usually does, and ends with this script.
# Installs Docker and compose from Debian if they are missing. Wants root.
#
# docker-compose.yml asks for 65,536 open files. Where root may not raise that limit (no CAP_SYS_RESOURCE), runc would
# refuse ("error setting rlimit type 7: operation not permitted"), so a wrapper of runc asks for what there is.
set -euo pipefail
folder=$(cd "$1" && pwd)
missing=()
command -v dockerd >/dev/null || missing+=(docker.io iptables)
docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || missing+=(docker-compose)
if [ ${#missing[@]} -gt 0 ]; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"; } >&2
fi
most=$(ulimit -Hn)
echo '{}' >"$folder/daemon.json"
if [ "$most" != unlimited ] && [ "$most" -lt 65536 ] && ! (ulimit -Hn 65536) 2>/dev/null; then
  cat >"$folder/runc" <<WRAPPER
#!/usr/bin/env bash
arguments=("\$@")
for ((i = 0; i < \$#; i++)); do
  case \${arguments[i]} in
    --bundle) file=\${arguments[i + 1]}/config.json ;;
    --process) file=\${arguments[i + 1]} ;;
    *) continue ;;
  esac
  perl -pi -e 's/("type":"RLIMIT_NOFILE","hard":)(\d+)(,"soft":)(\d+)/\$1.(\$2>$most?$most:\$2).\$3.(\$4>$most?$most:\$4)/ge' "\$file"
done
exec $(command -v runc) "\$@"
WRAPPER
  chmod 755 "$folder/runc"
  echo '{"runtimes": {"few-files": {"path": "'"$folder/runc"'"}}, "default-runtime": "few-files"}' >"$folder/daemon.json"
fi
if ! [ -e /sys/fs/cgroup/cgroup.controllers ] && ! mountpoint -q /sys/fs/cgroup/memory; then # neither v2 nor v1
  mountpoint -q /sys/fs/cgroup || mount -t tmpfs -o mode=755 cgroup /sys/fs/cgroup
  for controller in $(awk '!/^#/ && $4 == 1 {print $1}' /proc/cgroups); do
    mkdir -p "/sys/fs/cgroup/$controller"
    mountpoint -q "/sys/fs/cgroup/$controller" || mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
  done
fi
# By default all containers together get as much of a busy machine as one process outside (cgroup v1).
if [ -e /sys/fs/cgroup/cpu/cpu.shares ]; then
  mkdir -p /sys/fs/cgroup/cpu/docker
  echo 6144 >/sys/fs/cgroup/cpu/docker/cpu.shares
fi
exec dockerd --host "unix://$folder/docker.sock" --pidfile "$folder/docker.pid" --exec-root "$folder/run" \
  --config-file "$folder/daemon.json"
