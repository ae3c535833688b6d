"""What stands in for images of Docker Hub, for Docker and for Kubernetes."""

REDIS = """
FROM debian:12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server
WORKDIR /data
"""
# In the place of PHP's official image, with what the Dockerfile of the page uses of it: phpize, a compiler, the folder of
# settings, and the script that enables an extension.
PHP_IMAGE = """
FROM debian:12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends php-fpm php-dev g++ make
ENV PHP_INI_DIR=/usr/local/etc/php PHP_INI_SCAN_DIR=:/usr/local/etc/php/conf.d
RUN mkdir -p $PHP_INI_DIR/conf.d && ln -s /usr/sbin/php-fpm?.? /usr/local/sbin/php-fpm \\
 && printf '#!/bin/sh\\necho "extension=$1" >"$PHP_INI_DIR/conf.d/docker-php-ext-$1.ini"\\n' \\
      >/usr/local/bin/docker-php-ext-enable \\
 && chmod +x /usr/local/bin/docker-php-ext-enable
"""
# The packages are already there. Podman reads a tmpfs volume's size as a quota, so nr_blocks gives it here.
DOCKER = """#!/bin/sh
case $1 in
build) shift; exec podman build --network host --build-context packages={packages} "$@" ;;
compose) file=$3; shift 3; exec docker-compose --project-name compose --file "$file" --file {override} "$@" ;;
exec | run) exec podman "$@" ;; # exec: docker-compose's own
esac
exit 64
"""
# VERB deployment/pages --container NAME [-- COMMAND]; a log comes from its standard output.
KUBECTL = """#!/bin/sh
verb=$1 container=$4
shift 4
[ "$1" != -- ] || shift
exec podman "$verb" "pod-$container" "$@" 2>&1
"""
OVERRIDE = """
version: "3.9"
volumes:
  sets:
    driver_opts: {type: tmpfs, device: tmpfs, o: "nr_blocks=32768,uid=10001,gid=10001,mode=0750"}
"""
