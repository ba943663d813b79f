#!/bin/bash
# Puts the client programs of the image's own MySQL version into a directory. They come from the package source that the
# image itself names: Debian's and Ubuntu's archives, MySQL's apt repository, or MySQL's yum repository, which the
# official images on Oracle Linux use. The packages are unpacked beside the system and not installed over it.
set -euo pipefail

target=$1
programs=(ibd2sdi innochecksum my_print_defaults mysql mysqladmin mysqlbinlog mysqldump perror)
unpacked=$(mktemp -d)

die() {
  echo "programs.sh: $*" >&2
  exit 1
}

from_apt() {
  local version name found=()
  version=$(dpkg-query -W -f '${Package} ${Version}\n' 'mysql*-server-core*' | awk '$2 != "" { print $2; exit }')
  [[ -n $version ]] || die "no server package is installed in this image"
  apt-get update
  for name in $(apt-cache pkgnames mysql); do
    [[ $name =~ ^mysql(-community)?-(client|server)(-core)?(-[0-9.]+)?$ ]] || continue
    apt-cache madison "$name" | awk '{ print $3 }' | grep -qxF "$version" && found+=("$name=$version")
  done
  [[ ${#found[@]} -gt 0 ]] || die "the archive has no client packages of version $version any more"
  cd "$unpacked"
  apt-get download "${found[@]}"
  for name in ./*.deb; do dpkg -x "$name" .; done
}

from_yum() {
  local version source=/etc/yum.repos.d/mysql-community-minimal.repo
  version=$(rpm -q --qf '%{VERSION}-%{RELEASE}' mysql-community-server-minimal) ||
    die "no server package is installed in this image"
  [[ -f $source ]] || die "the image does not say where its server package came from ($source)"
  # The repository of the small packages lies below that of all packages.
  sed -e 's|/docker/|/|' -e 's|^\[.*\]|[mysql-all]|' -e 's|^enabled=.*|enabled=1|' "$source" >/etc/yum.repos.d/mysql-all.repo
  microdnf install -y --installroot="$unpacked" --releasever="$(rpm -E %rhel)" --config=/etc/dnf/dnf.conf \
    --setopt=reposdir=/etc/yum.repos.d --setopt=install_weak_deps=0 --nodocs \
    "mysql-community-client-$version" "mysql-community-server-$version"
}

if command -v apt-get >/dev/null; then
  from_apt
elif command -v microdnf >/dev/null; then
  from_yum
else
  die "this image has neither apt-get nor microdnf"
fi

mkdir -p "$target"
for name in "${programs[@]}"; do
  if [[ -x $unpacked/usr/bin/$name ]]; then install -m 755 "$unpacked/usr/bin/$name" "$target/$name"; fi
done
[[ -x $target/mysqlbinlog ]] || die "the packages hold no mysqlbinlog"
of_server=$(mysqld --version | grep -oE 'Ver [0-9.]+')
of_client=$("$target/mysqlbinlog" --version | grep -oE 'Ver [0-9.]+')
[[ $of_server == "$of_client" ]] || die "mysqld is of $of_server, mysqlbinlog of $of_client"
