// generator PORT THREADS CONNECTIONS SECONDS <REQUESTS: sends requests over keep-alive connections to
// 127.0.0.1, on each the next one after the previous response. Prints the number of responses, the seconds,
// and the median and the 99th percentile of their microseconds.
//
// Several requests are separated by NUL; the connections send one each, in turn. Ten # in a request stand for
// the number of times its connection has sent it.
//
// It does less per request than wrk: beside it, or on a core of its own, a server can show more of its own
// speed before the generator is the bottleneck.

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
  input_bytes_max = 1024 * 1024,
  number_digits = 10,
  numbers_max = 8,
  answer_bytes_max = 64 * 1024,
  connections_max = 1024,
  events_max = 256,
  // One microsecond each; the last is for everything slower.
  latency_buckets = 1000 * 1000,
};

typedef struct {
  int socket;
  // The connection's own copy of the request, and the place of the numbers in it.
  char *request;
  size_t request_size;
  char *numbers[numbers_max];
  uint64_t sent_count;
  // Of the response being read: bytes received, and its total size, 0 while its head is incomplete.
  size_t received, expected;
  uint64_t sent_at;
  char answer[answer_bytes_max + 1];
} connection;

typedef struct {
  pthread_t thread;
  // The first of its connections among all, and their number.
  int first, connections;
  uint64_t answered, started_at, ended_at;
  uint32_t *latencies;
} worker;

static char input[input_bytes_max];
static size_t input_size;
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

static size_t input_count(void) {
  size_t count = 1;
  for (size_t at = 0; at < input_size; at++) count += input[at] == 0;
  return count;
}

// Assigns a request to a connection.
static void equip(connection *one, size_t index) {
  const char *begin = input;
  for (size_t skipped = index % input_count(); skipped > 0; skipped--) begin += strlen(begin) + 1;
  one->request = strdup(begin);
  if (!one->request) fail("start");
  one->request_size = strlen(one->request);
  char *at = one->request;
  for (int count = 0; count < numbers_max && (at = strstr(at, "##########")); count++) {
    one->numbers[count] = at;
    at += number_digits;
  }
}

static void ask(connection *one) {
  one->received = one->expected = 0;
  uint64_t number = ++one->sent_count;
  for (int digit = number_digits - 1; one->numbers[0] && digit >= 0; digit--, number /= 10) {
    for (int at = 0; at < numbers_max && one->numbers[at]; at++) {
      one->numbers[at][digit] = (char)('0' + number % 10);
    }
  }
  one->sent_at = now();
  ssize_t sent = send(one->socket, one->request, one->request_size, MSG_NOSIGNAL);
  if (sent != (ssize_t)one->request_size) fail("send");
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

// The size of the response once its head is complete, or 0. Responses without Content-Length have no body.
static size_t expected_size(const connection *one) {
  const char *end = memmem(one->answer, one->received, "\r\n\r\n", 4);
  if (!end) return 0;
  static const char *const wanted[] = {"HTTP/1.1 200 ", "HTTP/1.1 202 ", "HTTP/1.1 304 "};
  int is_wanted = 0;
  for (int at = 0; at < 3; at++) is_wanted |= !memcmp(one->answer, wanted[at], 13);
  if (!is_wanted) {
    errno = 0;
    fail("answered with neither 200, 202 nor 304");
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

// Reads available data. Returns whether the response is complete.
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
  for (int at = 0; at < self->connections; at++) {
    equip(&all[at], (size_t)(self->first + at));
    connect_one(&all[at], epoll);
  }
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

// The microseconds that this many responses exceeded.
static long exceeded(const worker *workers, long threads, uint64_t answers) {
  uint64_t above = 0;
  long at = latency_buckets - 1;
  for (; at > 0 && above <= answers; at--) {
    for (long each = 0; each < threads; each++) above += workers[each].latencies[at];
  }
  return at + 1;
}

static long number(const char *text, long most) {
  char *end;
  long value = strtol(text, &end, 10);
  if (*end || value < 1 || value > most) {
    errno = 0;
    fail("usage: generator PORT THREADS CONNECTIONS SECONDS <REQUESTS");
  }
  return value;
}

int main(int count, char **arguments) {
  if (count != 5) {
    errno = 0;
    fail("usage: generator PORT THREADS CONNECTIONS SECONDS <REQUESTS");
  }
  port = (uint16_t)number(arguments[1], 65535);
  long threads = number(arguments[2], 64), connections = number(arguments[3], connections_max);
  run_nanoseconds = (uint64_t)number(arguments[4], 600) * 1000000000u;
  input_size = fread(input, 1, sizeof input - 1, stdin);
  worker workers[64] = {0};
  int first = 0;
  for (long at = 0; at < threads; at++) {
    workers[at].first = first;
    workers[at].connections = (int)(connections / threads + (at < connections % threads));
    first += workers[at].connections;
    if (pthread_create(&workers[at].thread, NULL, run, &workers[at])) fail("pthread_create");
  }
  uint64_t answered = 0;
  double seconds = 0;
  for (long at = 0; at < threads; at++) {
    pthread_join(workers[at].thread, NULL);
    answered += workers[at].answered;
    seconds += (double)(workers[at].ended_at - workers[at].started_at) / 1e9 / (double)threads;
  }
  printf("%llu %.6f %ld %ld\n", (unsigned long long)answered, seconds,
    exceeded(workers, threads, answered / 2), exceeded(workers, threads, answered / 100));
}
