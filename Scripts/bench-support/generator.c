// generator PORT THREADS CONNECTIONS SECONDS <REQUEST: sends the request over keep-alive connections to
// 127.0.0.1, on each the next one when the last is answered. Prints how many were answered, in how
// many seconds, and the 99th percentile of their microseconds.
//
// It does less for a request than wrk does: beside it, or on a core of its own, a server can show
// more of its own speed before the generator is what is measured.

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
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  request_bytes_max = 16 * 1024,
  answer_bytes_max = 64 * 1024,
  connections_max = 1024,
  events_max = 256,
  // One microsecond each; the last is for all that took longer.
  latency_buckets = 1000 * 1000,
};

typedef struct {
  int socket;
  // Of the answer that is being read: bytes that came, and all of it, 0 while its head is not whole.
  size_t received, expected;
  uint64_t sent_at;
  char answer[answer_bytes_max + 1];
} connection;

typedef struct {
  pthread_t thread;
  int connections;
  uint64_t answered, started_at, ended_at;
  uint32_t *latencies;
} worker;

static char request[request_bytes_max];
static size_t request_size;
static uint16_t port;
static uint64_t run_nanoseconds;

static void fail(const char *what) {
  fprintf(stderr, "generator: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void ask(connection *one) {
  one->received = one->expected = 0;
  one->sent_at = now();
  if (send(one->socket, request, request_size, MSG_NOSIGNAL) != (ssize_t)request_size) fail("send");
}

static void connect_one(connection *one, int epoll) {
  struct sockaddr_in address = {
    .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  one->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (one->socket < 0 || connect(one->socket, (void *)&address, sizeof address)) fail("connect");
  int on = 1;
  setsockopt(one->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, one->socket, &event)) fail("epoll_ctl");
}

// The size of the answer whose head is whole, or 0. Answers that have no Content-Length have no body.
static size_t expected_size(const connection *one) {
  const char *end = memmem(one->answer, one->received, "\r\n\r\n", 4);
  if (!end) return 0;
  if (memcmp(one->answer, "HTTP/1.1 200 ", 13) && memcmp(one->answer, "HTTP/1.1 304 ", 13)) {
    errno = 0;
    fail("answered with neither 200 nor 304");
  }
  size_t length = 0;
  if (one->answer[9] == '2') {
    const char *line = one->answer;
    while ((line = memchr(line, '\n', (size_t)(end - line))) != NULL) {
      line++;
      if (!strncasecmp(line, "content-length:", 15)) length = strtoul(line + 15, NULL, 10);
    }
  }
  return (size_t)(end - one->answer) + 4 + length;
}

// Reads what has come. Returns whether the answer is whole.
static int hear(connection *one) {
  ssize_t count =
    recv(one->socket, one->answer + one->received, answer_bytes_max - one->received, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return 0;
  if (count == 0) errno = 0;
  if (count <= 0) fail("closed by the server");
  one->received += (size_t)count;
  one->answer[one->received] = 0;
  if (!one->expected) one->expected = expected_size(one);
  if (one->expected > answer_bytes_max || (one->expected && one->received > one->expected)) {
    errno = 0;
    fail("an answer is too long");
  }
  return one->received == one->expected && one->expected;
}

static void *run(void *argument) {
  worker *self = argument;
  connection *all = calloc((size_t)self->connections, sizeof *all);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  self->latencies = calloc(latency_buckets, sizeof *self->latencies);
  if (!all || epoll < 0 || !self->latencies) fail("start");
  for (int at = 0; at < self->connections; at++) connect_one(&all[at], epoll);
  self->started_at = now();
  for (int at = 0; at < self->connections; at++) ask(&all[at]);
  uint64_t time = self->started_at;
  struct epoll_event events[events_max];
  while (time - self->started_at < run_nanoseconds) {
    int ready = epoll_wait(epoll, events, events_max, 100);
    if (ready < 0) fail("epoll_wait");
    time = now();
    for (int at = 0; at < ready; at++) {
      connection *one = events[at].data.ptr;
      if (!hear(one)) continue;
      uint64_t taken = (now() - one->sent_at) / 1000;
      self->latencies[taken < latency_buckets ? taken : latency_buckets - 1]++;
      self->answered++;
      ask(one);
    }
  }
  self->ended_at = time;
  return NULL;
}

static long number(const char *text, long most) {
  char *end;
  long value = strtol(text, &end, 10);
  if (*end || value < 1 || value > most) {
    errno = 0;
    fail("usage: generator PORT THREADS CONNECTIONS SECONDS <REQUEST");
  }
  return value;
}

int main(int count, char **arguments) {
  if (count != 5) {
    errno = 0;
    fail("usage: generator PORT THREADS CONNECTIONS SECONDS <REQUEST");
  }
  port = (uint16_t)number(arguments[1], 65535);
  long threads = number(arguments[2], 64), connections = number(arguments[3], connections_max);
  run_nanoseconds = (uint64_t)number(arguments[4], 600) * 1000000000u;
  request_size = fread(request, 1, sizeof request, stdin);
  worker workers[64] = {0};
  for (long at = 0; at < threads; at++) {
    workers[at].connections = (int)(connections / threads + (at < connections % threads));
    if (pthread_create(&workers[at].thread, NULL, run, &workers[at])) fail("pthread_create");
  }
  uint64_t answered = 0;
  double seconds = 0;
  for (long at = 0; at < threads; at++) {
    pthread_join(workers[at].thread, NULL);
    answered += workers[at].answered;
    seconds += (double)(workers[at].ended_at - workers[at].started_at) / 1e9 / (double)threads;
  }
  uint64_t above = 0;
  long p99 = latency_buckets - 1;
  for (; p99 > 0 && above * 100 <= answered; p99--) {
    for (long at = 0; at < threads; at++) above += workers[at].latencies[p99];
  }
  printf("%llu %.6f %ld\n", (unsigned long long)answered, seconds, p99 + 1);
}
