// floor PORT FILE: sends the bytes of FILE for each request that arrives on a connection to 127.0.0.1:PORT,
// without reading what was asked for.
//
// The least that a server can do for a hit: two threads, each with a listening socket and an epoll of its
// own, one recv and one send a request. A request must arrive in one piece and end with an empty line.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  threads = 2,
  answer_bytes_max = 1024 * 1024,
  request_bytes_max = 16 * 1024,
  events_max = 256,
};

static char answer[answer_bytes_max];
static size_t answer_size;
static uint16_t port;

static void fail(const char *what) {
  fprintf(stderr, "floor: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

static int listening(void) {
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  if (one < 0) fail("socket");
  if (setsockopt(one, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on)) fail("SO_REUSEPORT");
  if (bind(one, (void *)&address, sizeof address)) fail("bind");
  if (listen(one, 1024)) fail("listen");
  return one;
}

static void watch(int epoll, int socket) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
}

static void serve(int socket) {
  char request[request_bytes_max];
  ssize_t count = recv(socket, request, sizeof request, 0);
  if (count < 4 || memcmp(request + count - 4, "\r\n\r\n", 4) ||
      send(socket, answer, answer_size, MSG_NOSIGNAL) != (ssize_t)answer_size) {
    close(socket);
  }
}

static void *run(void *argument) {
  (void)argument;
  int entrance = listening(), epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) fail("epoll_create1");
  watch(epoll, entrance);
  struct epoll_event events[events_max];
  for (;;) {
    int ready = epoll_wait(epoll, events, events_max, -1);
    for (int at = 0; at < ready; at++) {
      if (events[at].data.fd != entrance) {
        serve(events[at].data.fd);
        continue;
      }
      int client = accept4(entrance, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
      if (client < 0) continue;
      setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(epoll, client);
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 3) fail("usage: floor PORT FILE");
  port = (uint16_t)strtoul(arguments[1], NULL, 10);
  FILE *file = fopen(arguments[2], "rb");
  if (!file) fail(arguments[2]);
  answer_size = fread(answer, 1, sizeof answer, file);
  if (answer_size == 0 || !feof(file)) fail("the file is empty or too large");
  pthread_t others[threads];
  for (int at = 0; at < threads; at++) {
    if (pthread_create(&others[at], NULL, run, NULL)) fail("pthread_create");
  }
  pthread_join(others[0], NULL);
}
