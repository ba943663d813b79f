"""Servers in containers of Docker or Podman: images, containers and their files, and what removes them."""
