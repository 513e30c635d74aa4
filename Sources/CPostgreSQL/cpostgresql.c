#include "cpostgresql.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef larder_pq_connection connection;
typedef larder_pq_result result;

// A notification as libpq allocates it: the public members of PGnotify.
struct notification {
  char *channel;
  int pid;
  char *payload;
};

// Members of PQconninfoOption are not read, only whether there are any.
struct option;

static struct {
  int (*PQlibVersion)(void);
  connection *(*PQconnectStartParams)(const char *const *, const char *const *, int);
  int (*PQconnectPoll)(connection *);
  void (*PQfinish)(connection *);
  int (*PQstatus)(const connection *);
  int (*PQsocket)(const connection *);
  int (*PQbackendPID)(const connection *);
  int (*PQserverVersion)(const connection *);
  char *(*PQerrorMessage)(const connection *);
  int (*PQsetnonblocking)(connection *, int);
  void *(*PQsetNoticeProcessor)(connection *, void (*)(void *, const char *), void *);
  int (*PQsendQueryParams)(connection *, const char *, int, const uint32_t *, const char *const *,
                           const int *, const int *, int);
  int (*PQsendPrepare)(connection *, const char *, const char *, int, const uint32_t *);
  int (*PQsendQueryPrepared)(connection *, const char *, int, const char *const *, const int *,
                             const int *, int);
  int (*PQflush)(connection *);
  int (*PQconsumeInput)(connection *);
  int (*PQisBusy)(connection *);
  result *(*PQgetResult)(connection *);
  int (*PQresultStatus)(const result *);
  char *(*PQresultErrorField)(const result *, int);
  char *(*PQresultErrorMessage)(const result *);
  int (*PQntuples)(const result *);
  int (*PQnfields)(const result *);
  char *(*PQcmdTuples)(result *);
  char *(*PQgetvalue)(const result *, int, int);
  int (*PQgetlength)(const result *, int, int);
  int (*PQgetisnull)(const result *, int, int);
  void (*PQclear)(result *);
  struct notification *(*PQnotifies)(connection *);
  struct option *(*PQconninfoParse)(const char *, char **);
  void (*PQconninfoFree)(struct option *);
  void (*PQfreemem)(void *);
} pq;

static char load_error[512];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

#define FIND(name)                                                                                \
  if (!(*(void **)&pq.name = dlsym(library, #name))) {                                            \
    snprintf(load_error, sizeof load_error,                                                       \
             "libpq.so.5 has no function %s; install PostgreSQL's client library of version 10 or " \
             "later (Debian package libpq5)",                                                     \
             #name);                                                                              \
    return;                                                                                       \
  }

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    snprintf(load_error, sizeof load_error,
             "PostgreSQL's client library is missing: install the Debian package libpq5 (%s)",
             reason ? reason : "no reason is known");
    return;
  }
  FIND(PQlibVersion)
  FIND(PQconnectStartParams)
  FIND(PQconnectPoll)
  FIND(PQfinish)
  FIND(PQstatus)
  FIND(PQsocket)
  FIND(PQbackendPID)
  FIND(PQserverVersion)
  FIND(PQerrorMessage)
  FIND(PQsetnonblocking)
  FIND(PQsetNoticeProcessor)
  FIND(PQsendQueryParams)
  FIND(PQsendPrepare)
  FIND(PQsendQueryPrepared)
  FIND(PQflush)
  FIND(PQconsumeInput)
  FIND(PQisBusy)
  FIND(PQgetResult)
  FIND(PQresultStatus)
  FIND(PQresultErrorField)
  FIND(PQresultErrorMessage)
  FIND(PQntuples)
  FIND(PQnfields)
  FIND(PQcmdTuples)
  FIND(PQgetvalue)
  FIND(PQgetlength)
  FIND(PQgetisnull)
  FIND(PQclear)
  FIND(PQnotifies)
  FIND(PQconninfoParse)
  FIND(PQconninfoFree)
  FIND(PQfreemem)
}

const char *larder_pq_load(void) {
  pthread_once(&load_once, load);
  return load_error[0] ? load_error : NULL;
}

int larder_pq_library_version(void) { return pq.PQlibVersion(); }

connection *larder_pq_connect_start(const char *const *keywords, const char *const *values) {
  return pq.PQconnectStartParams(keywords, values, 1);
}
int larder_pq_connect_poll(connection *c) { return pq.PQconnectPoll(c); }
void larder_pq_finish(connection *c) { pq.PQfinish(c); }
int larder_pq_status(const connection *c) { return pq.PQstatus(c); }
int larder_pq_socket(const connection *c) { return pq.PQsocket(c); }
int larder_pq_backend_pid(const connection *c) { return pq.PQbackendPID(c); }
int larder_pq_server_version(const connection *c) { return pq.PQserverVersion(c); }
const char *larder_pq_error_message(const connection *c) { return pq.PQerrorMessage(c); }
int larder_pq_set_nonblocking(connection *c) { return pq.PQsetnonblocking(c, 1); }

static void ignore(void *context, const char *message) {
  (void)context;
  (void)message;
}
void larder_pq_ignore_notices(connection *c) { pq.PQsetNoticeProcessor(c, ignore, NULL); }

// All results are requested in binary form.
int larder_pq_send_query(connection *c, const char *sql, int count, const uint32_t *types,
                         const char *const *values, const int *lengths, const int *formats) {
  return pq.PQsendQueryParams(c, sql, count, types, values, lengths, formats, 1);
}
int larder_pq_send_prepare(connection *c, const char *name, const char *sql, int count,
                           const uint32_t *types) {
  return pq.PQsendPrepare(c, name, sql, count, types);
}
int larder_pq_send_prepared(connection *c, const char *name, int count, const char *const *values,
                            const int *lengths, const int *formats) {
  return pq.PQsendQueryPrepared(c, name, count, values, lengths, formats, 1);
}
int larder_pq_flush(connection *c) { return pq.PQflush(c); }
int larder_pq_consume_input(connection *c) { return pq.PQconsumeInput(c); }
int larder_pq_is_busy(connection *c) { return pq.PQisBusy(c); }
result *larder_pq_get_result(connection *c) { return pq.PQgetResult(c); }

int larder_pq_result_status(const result *r) { return pq.PQresultStatus(r); }
const char *larder_pq_result_field(const result *r, int field) { return pq.PQresultErrorField(r, field); }
const char *larder_pq_result_message(const result *r) { return pq.PQresultErrorMessage(r); }
int larder_pq_row_count(const result *r) { return pq.PQntuples(r); }
int larder_pq_column_count(const result *r) { return pq.PQnfields(r); }
const char *larder_pq_affected_rows(result *r) { return pq.PQcmdTuples(r); }
const char *larder_pq_value(const result *r, int row, int column) { return pq.PQgetvalue(r, row, column); }
int larder_pq_length(const result *r, int row, int column) { return pq.PQgetlength(r, row, column); }
int larder_pq_is_null(const result *r, int row, int column) { return pq.PQgetisnull(r, row, column); }
void larder_pq_clear(result *r) { pq.PQclear(r); }

int larder_pq_take_notification(connection *c, void *context,
                                void (*body)(void *, const char *, const char *)) {
  struct notification *notification = pq.PQnotifies(c);
  if (!notification) return 0;
  body(context, notification->channel, notification->payload);
  pq.PQfreemem(notification);
  return 1;
}

char *larder_pq_check_connection_string(const char *text) {
  char *problem = NULL;
  struct option *options = pq.PQconninfoParse(text, &problem);
  if (options) {
    pq.PQconninfoFree(options);
    return NULL;
  }
  char *copy = strdup(problem ? problem : "out of memory");
  if (problem) pq.PQfreemem(problem);
  return copy;
}

void larder_pq_release(char *text) { free(text); }

int larder_pq_wait(int socket, int for_writing, int wake, int milliseconds) {
  // While it writes, libpq must also read: the server may wait for its own output to be taken.
  struct pollfd polled[2] = {
      {.fd = socket, .events = (short)(for_writing ? POLLIN | POLLOUT : POLLIN)},
      {.fd = wake, .events = POLLIN},
  };
  int count = poll(polled, 2, milliseconds);
  if (count < 0) return errno == EINTR ? 0 : -1;
  return (polled[0].revents ? 1 : 0) | (polled[1].revents ? 2 : 0);
}

int larder_pq_wake_new(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
void larder_pq_wake(int wake) { eventfd_write(wake, 1); }
void larder_pq_wake_close(int wake) { close(wake); }
