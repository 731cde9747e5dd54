# SPDX-License-Identifier: GPL-2.0-only
#
# Debian 12 for the commands of README.md, on any machine:
#
#     docker build -t ftrace-mux - <Dockerfile
#     docker run --rm -it -v "$PWD:/src" -v ftrace-mux:/build ftrace-mux scripts/demo
#
# The volume keeps the sources and what is built. With --device /dev/kvm, QEMU can use KVM.
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git
ENV BUILD_DIR=/build
WORKDIR /src
CMD ["scripts/demo"]
