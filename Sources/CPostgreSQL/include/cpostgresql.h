// libpq, PostgreSQL's client library, loaded when the first connection is made: the binary needs neither the
// library nor its headers unless it runs in a cluster. Each function larder_pq_X calls libpq's PQX, see
// https://www.postgresql.org/docs/current/libpq.html; none can be called before larder_pq_load has returned NULL.
#ifndef LARDER_CPOSTGRESQL_H
#define LARDER_CPOSTGRESQL_H

#include <stdint.h>

typedef struct larder_pq_connection larder_pq_connection;
typedef struct larder_pq_result larder_pq_result;

// Loads the library once a process. NULL if it is there, else a text that says what is missing. Any thread.
const char *larder_pq_load(void);
// Such as 150018 for 15.18.
int larder_pq_library_version(void);

// Values of ConnStatusType, PostgresPollingStatusType, ExecStatusType and PG_DIAG_*, which libpq keeps.
enum { LARDER_PQ_CONNECTED = 0, LARDER_PQ_BAD = 1 };
enum {
  LARDER_PQ_POLLING_FAILED = 0,
  LARDER_PQ_POLLING_READING = 1,
  LARDER_PQ_POLLING_WRITING = 2,
  LARDER_PQ_POLLING_OK = 3,
};
enum {
  LARDER_PQ_EMPTY_QUERY = 0,
  LARDER_PQ_COMMAND_OK = 1,
  LARDER_PQ_TUPLES_OK = 2,
};
enum {
  LARDER_PQ_FIELD_SEVERITY = 'V',
  LARDER_PQ_FIELD_SQLSTATE = 'C',
  LARDER_PQ_FIELD_MESSAGE = 'M',
  LARDER_PQ_FIELD_DETAIL = 'D',
  LARDER_PQ_FIELD_HINT = 'H',
};

// Begins to connect, with `dbname` expanded if it is a connection string. Looks names up before it returns.
larder_pq_connection *larder_pq_connect_start(const char *const *keywords, const char *const *values);
int larder_pq_connect_poll(larder_pq_connection *);
void larder_pq_finish(larder_pq_connection *);
int larder_pq_status(const larder_pq_connection *);
int larder_pq_socket(const larder_pq_connection *);
int larder_pq_backend_pid(const larder_pq_connection *);
int larder_pq_server_version(const larder_pq_connection *);
const char *larder_pq_error_message(const larder_pq_connection *);
int larder_pq_set_nonblocking(larder_pq_connection *);
void larder_pq_ignore_notices(larder_pq_connection *);

int larder_pq_send_query(larder_pq_connection *, const char *sql, int count, const uint32_t *types,
                         const char *const *values, const int *lengths, const int *formats);
int larder_pq_send_prepare(larder_pq_connection *, const char *name, const char *sql, int count,
                           const uint32_t *types);
int larder_pq_send_prepared(larder_pq_connection *, const char *name, int count, const char *const *values,
                            const int *lengths, const int *formats);
// 0: all is sent, 1: more is to be sent, -1: failed.
int larder_pq_flush(larder_pq_connection *);
int larder_pq_consume_input(larder_pq_connection *);
int larder_pq_is_busy(larder_pq_connection *);
larder_pq_result *larder_pq_get_result(larder_pq_connection *);

int larder_pq_result_status(const larder_pq_result *);
const char *larder_pq_result_field(const larder_pq_result *, int field);
const char *larder_pq_result_message(const larder_pq_result *);
int larder_pq_row_count(const larder_pq_result *);
int larder_pq_column_count(const larder_pq_result *);
const char *larder_pq_affected_rows(larder_pq_result *);
const char *larder_pq_value(const larder_pq_result *, int row, int column);
int larder_pq_length(const larder_pq_result *, int row, int column);
int larder_pq_is_null(const larder_pq_result *, int row, int column);
void larder_pq_clear(larder_pq_result *);

// Takes the next notification: calls `body` with its channel and payload. 0 if there is none.
int larder_pq_take_notification(larder_pq_connection *, void *context,
                                void (*body)(void *context, const char *channel, const char *payload));

// Checks a connection string. NULL if it is right, else a text to be released.
char *larder_pq_check_connection_string(const char *);
void larder_pq_release(char *);

// Waits for a socket, and for a wake-up, with poll(2). Returns a sum of 1, the socket is ready or failed, and 2,
// it was woken; 0 after the time, or after a signal; -1 with errno.
int larder_pq_wait(int socket, int for_writing, int wake, int milliseconds);
// An eventfd(2) that ends waits; -1 with errno.
int larder_pq_wake_new(void);
void larder_pq_wake(int wake);
void larder_pq_wake_close(int wake);

#endif
