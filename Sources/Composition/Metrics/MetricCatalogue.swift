package import Gateway

/// The description of every metric: the text of `# HELP` and `# UNIT`, and the labels.
///
/// Names are part of the interface: dashboards and alerts use them, so they never change.
package struct MetricDescription: Sendable {
  package let name: String
  package let kind: MetricFamily.Kind
  /// In the order in which they are documented.
  package let labels: [String]
  /// A suffix of the name, apart from `_total`; nil for a number without a unit.
  package let unit: String?
  package let help: String

  fileprivate init(
    _ name: String, _ kind: MetricFamily.Kind, by labels: [String] = [], unit: String? = nil,
    _ help: String
  ) {
    self.name = name
    self.kind = kind
    self.labels = labels
    self.unit = unit
    self.help = help
  }
}

package enum MetricCatalogue {
  /// In the order of the documentation.
  package static let all: [MetricDescription] =
    requests + cache + upstream + subscriptions + sync + hooks + accounts + cluster + standby
    + process

  private static let byName = Dictionary(
    all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  package static func description(of name: String) -> MetricDescription? { byName[name] }

  private static let requests: [MetricDescription] = [
    MetricDescription(
      "larder_http_request_duration_seconds", .histogram, by: ["route", "method", "status"],
      unit: "seconds",
      "Time from the request to the end of its response; of event streams, to their "
        + "start."),
    MetricDescription(
      "larder_http_request_content_bytes_total", .counter, by: ["route", "method", "status"],
      unit: "bytes",
      "Bytes of the contents of requests, as sent."),
    MetricDescription(
      "larder_http_response_bytes_total", .counter, by: ["route", "method", "status"],
      unit: "bytes",
      "Bytes of responses, heads included."),
    MetricDescription(
      "larder_http_connections", .gauge,
      "Open connections."),
    MetricDescription(
      "larder_http_connections_accepted_total", .counter,
      "Connections accepted."),
    MetricDescription(
      "larder_http_received_bytes_total", .counter, unit: "bytes",
      "Bytes read from connections."),
    MetricDescription(
      "larder_http_sent_bytes_total", .counter, unit: "bytes",
      "Bytes written to connections."),
    MetricDescription(
      "larder_http_websockets", .gauge,
      "Open WebSocket connections of clients."),
    MetricDescription(
      "larder_http_event_streams", .gauge,
      "Open event streams of clients."),
    MetricDescription(
      "larder_rate_limit_refusals_total", .counter,
      "Requests refused by limits.rate."),
  ]

  private static let cache: [MetricDescription] = [
    MetricDescription(
      "larder_cache_responses_total", .counter, by: ["operation", "outcome"],
      "Responses to reads of operations, by how the cache was used."),
    MetricDescription(
      "larder_memory_cache_bytes", .gauge, unit: "bytes",
      "Size of the rendered responses in memory."),
    MetricDescription(
      "larder_memory_cache_responses", .gauge,
      "Rendered responses in memory."),
    MetricDescription(
      "larder_keyless_entities_total", .counter,
      "Objects in upstream responses that lack the key of their type."),
    MetricDescription(
      "larder_shadow_comparisons_total", .counter, by: ["operation", "result"],
      "Cached responses compared with upstream."),
    MetricDescription(
      "larder_shadow_mismatches_total", .counter, by: ["operation", "path"],
      "Differences found by comparisons with upstream."),
  ]

  private static let upstream: [MetricDescription] = [
    MetricDescription(
      "larder_upstream_request_duration_seconds", .histogram, by: ["upstream", "operation"],
      unit: "seconds",
      "Time of requests to upstream that were tried."),
    MetricDescription(
      "larder_upstream_failures_total", .counter, by: ["upstream", "kind"],
      "Requests to upstream that failed, or whose response has errors."),
    MetricDescription(
      "larder_upstream_reachable", .gauge, by: ["upstream"],
      "1 if the last request to upstream got a response, else 0."),
    MetricDescription(
      "larder_upstream_credential_accepted", .gauge, by: ["upstream"],
      "0 while upstream refuses the service's own credential, 1 when it accepts it again."),
    MetricDescription(
      "larder_upstream_breaker_state", .gauge, by: ["upstream", "state"],
      "1 for the present state of the circuit breaker, 0 for the others."),
    MetricDescription(
      "larder_upstream_breaker_operations", .gauge, by: ["upstream"],
      "Operations whose own circuit breaker is not closed."),
    MetricDescription(
      "larder_upstream_flights", .gauge,
      "Reads that call upstream at present, or wait to."),
    MetricDescription(
      "larder_upstream_coalesced_total", .counter,
      "Reads that shared the upstream request of another one."),
    MetricDescription(
      "larder_http_client_connections", .gauge, by: ["upstream", "origin"],
      "Open connections to upstream and other services."),
    MetricDescription(
      "larder_http_client_requests_in_flight", .gauge, by: ["upstream", "origin"],
      "Requests to upstream and other services in progress."),
    MetricDescription(
      "larder_http_client_retries_total", .counter, by: ["upstream", "origin"],
      "Requests sent again on another connection."),
    MetricDescription(
      "larder_http_client_websockets", .gauge,
      "Open WebSocket connections to upstream."),
    MetricDescription(
      "larder_graphql_unregistered_total", .counter, by: ["result"],
      "GraphQL documents of clients that are no registered operation."),
  ]

  private static let subscriptions: [MetricDescription] = [
    MetricDescription(
      "larder_subscription_clients", .gauge,
      "Clients of subscriptions."),
    MetricDescription(
      "larder_subscription_events_total", .counter, by: ["operation"],
      "Events received from upstream."),
    MetricDescription(
      "larder_subscription_lag_seconds", .histogram, by: ["operation"], unit: "seconds",
      "Time from an event until its last client has taken it."),
    MetricDescription(
      "larder_subscription_client_gaps_total", .counter, by: ["operation"],
      "Clients that read too slowly and lost events."),
    MetricDescription(
      "larder_upstream_subscriptions", .gauge,
      "Subscriptions open at upstream."),
    MetricDescription(
      "larder_subscription_connections", .gauge, by: ["upstream"],
      "Connections to upstream for subscriptions."),
    MetricDescription(
      "larder_subscription_reconnects_total", .counter, by: ["upstream"],
      "Connections for subscriptions made again after a loss."),
    MetricDescription(
      "larder_subscription_gaps_total", .counter, by: ["upstream"],
      "Subscriptions that may have lost events."),
    MetricDescription(
      "larder_subscription_refusals_total", .counter, by: ["upstream"],
      "Subscriptions whose credential upstream did not accept."),
    MetricDescription(
      "larder_standing_down", .gauge, by: ["operation"],
      "Standing subscriptions that are not live."),
    MetricDescription(
      "larder_polls_total", .counter, by: ["operation", "outcome"],
      "Polls of upstream by standing rules."),
  ]

  private static let sync: [MetricDescription] = [
    MetricDescription(
      "larder_queue_pending", .gauge,
      "Mutations of devices that wait to be sent."),
    MetricDescription(
      "larder_queue_parked", .gauge,
      "Mutations that wait for a decision."),
    MetricDescription(
      "larder_queue_oldest_age_seconds", .gauge, unit: "seconds",
      "Age of the oldest mutation that is not parked."),
    MetricDescription(
      "larder_queue_attempts_total", .counter, by: ["upstream", "outcome"],
      "Attempts to send a mutation."),
    MetricDescription(
      "larder_live_streams", .gauge,
      "Open streams of several subjects."),
    MetricDescription(
      "larder_list_reads_total", .counter, by: ["kind"],
      "Reads for streams of lists."),
    MetricDescription(
      "larder_lists", .gauge,
      "Lists that streams follow."),
    MetricDescription(
      "larder_list_memory_bytes", .gauge, unit: "bytes",
      "Memory of the lists that streams follow."),
    MetricDescription(
      "larder_list_refusals_total", .counter,
      "Lists refused for limits.listMemory or their number."),
    MetricDescription(
      "larder_change_log_head", .gauge,
      "Revision of the last commit."),
    MetricDescription(
      "larder_change_log_floor", .gauge,
      "Oldest revision that a client can continue from."),
    MetricDescription(
      "larder_change_log_lag", .gauge,
      "Committed revisions that clients are not shown yet."),
  ]

  private static let hooks: [MetricDescription] = [
    MetricDescription(
      "larder_webhook_deliveries_total", .counter, by: ["hook", "outcome"],
      "Messages received by webhooks."),
    MetricDescription(
      "larder_webhook_entities_total", .counter, by: ["hook", "outcome"],
      "Entities in messages of webhooks."),
    MetricDescription(
      "larder_hook_calls_total", .counter, by: ["hook", "outcome"],
      "Requests to hooks."),
    MetricDescription(
      "larder_hook_dropped_total", .counter, by: ["hook", "reason"],
      "Events for hooks that were given up."),
    MetricDescription(
      "larder_hook_pending", .gauge, by: ["hook"],
      "Events that wait for a hook."),
    MetricDescription(
      "larder_push_attempts_total", .counter, by: ["outcome"],
      "Attempts to send a notification."),
  ]

  private static let accounts: [MetricDescription] = [
    MetricDescription(
      "larder_sign_ins_total", .counter, by: ["result"],
      "Sign-ins with a password, by result."),
    MetricDescription(
      "larder_files", .gauge,
      "Objects in all buckets."),
    MetricDescription(
      "larder_files_bytes", .gauge, unit: "bytes",
      "Size of the objects in all buckets."),
  ]

  private static let cluster: [MetricDescription] = [
    MetricDescription(
      "larder_cluster_position", .gauge,
      "Last position of the cluster's log that this node has applied."),
    MetricDescription(
      "larder_cluster_lag_rows", .gauge,
      "Rows of the cluster's log that this node has not applied."),
    MetricDescription(
      "larder_cluster_lag_seconds", .gauge, unit: "seconds",
      "How long the oldest row of the log that this node has not applied has waited, and at least "
        + "the time since the node last reached PostgreSQL while it is cut off."),
    MetricDescription(
      "larder_cluster_epoch", .gauge,
      "Epoch of the leader's lease; larger by at least one with each change of the leader."),
    MetricDescription(
      "larder_cluster_is_leader", .gauge,
      "1 if this node is the leader, else 0."),
    MetricDescription(
      "larder_cluster_cut_off", .gauge,
      "1 while this node learns nothing new of the cluster, as without PostgreSQL, else 0."),
    MetricDescription(
      "larder_cluster_inbox_entries", .gauge,
      "Mutations that wait in PostgreSQL for the leader."),
    MetricDescription(
      "larder_cluster_forwarded_requests_total", .counter, by: ["outcome"],
      "Requests that this node passed on to the leader."),
    MetricDescription(
      "larder_cluster_append_duration_seconds", .histogram, unit: "seconds",
      "Time that PostgreSQL took for one row of the log."),
  ]

  private static let standby: [MetricDescription] = [
    MetricDescription(
      "larder_standby_is_primary", .gauge,
      "1 if this machine is the primary, 0 if it is the standby."),
    MetricDescription(
      "larder_standby_epoch", .gauge,
      "Epoch of the primary's lease; larger by at least one with each machine that takes over."),
    MetricDescription(
      "larder_standby_position", .gauge,
      "Last commit in the shared folder or bucket, on the primary; last one that is applied, on the standby."
    ),
    MetricDescription(
      "larder_standby_unsent_seconds", .gauge, unit: "seconds",
      "Age of the oldest commit of the primary that is not stored; lost if the machine is lost now."
    ),
    MetricDescription(
      "larder_standby_unsent_bytes", .gauge, unit: "bytes",
      "Size of the primary's commits that are not stored."),
    MetricDescription(
      "larder_standby_takes_writes", .gauge,
      "0 if the primary refuses writes, because its lease or the store has not been renewed in time."
    ),
    MetricDescription(
      "larder_standby_lag_seconds", .gauge, unit: "seconds",
      "Time since the standby had applied everything that was stored."),
  ]

  private static let process: [MetricDescription] = [
    MetricDescription(
      "larder_build_info", .info, by: ["version"],
      "The version of Larder; the value is 1."),
    MetricDescription(
      "larder_operations", .gauge,
      "Operations that clients can call."),
    MetricDescription(
      "larder_reloads_total", .counter, by: ["outcome"],
      "Reloads of operations and settings."),
    MetricDescription(
      "larder_database_bytes", .gauge, unit: "bytes",
      "Size of the database file."),
    MetricDescription(
      "larder_database_wal_bytes", .gauge, unit: "bytes",
      "Size of the database's write-ahead log."),
    MetricDescription(
      "larder_disk_free_bytes", .gauge, unit: "bytes",
      "Free space on the disk of the data folder."),
    MetricDescription(
      "larder_disk_size_bytes", .gauge, unit: "bytes",
      "Size of the disk of the data folder."),
    MetricDescription(
      "larder_log_dropped_lines_total", .counter,
      "Log lines lost because standard error was not read."),
    MetricDescription(
      "larder_log_dropped_bytes_total", .counter, unit: "bytes",
      "Bytes of the lost log lines."),
    MetricDescription(
      "larder_trace_spans_exported_total", .counter,
      "Spans that the collector of traces accepted."),
    MetricDescription(
      "larder_trace_spans_dropped_total", .counter, by: ["reason"],
      "Spans that were not exported."),
    MetricDescription(
      "process_cpu_seconds_total", .counter, unit: "seconds",
      "User and system time of the process."),
    MetricDescription(
      "process_resident_memory_bytes", .gauge, unit: "bytes",
      "Resident memory of the process."),
    MetricDescription(
      "process_virtual_memory_bytes", .gauge, unit: "bytes",
      "Virtual memory of the process."),
    MetricDescription(
      "process_open_fds", .gauge,
      "Open file descriptors of the process."),
    MetricDescription(
      "process_max_fds", .gauge,
      "Limit on the open file descriptors."),
    MetricDescription(
      "process_start_time_seconds", .gauge, unit: "seconds",
      "Start of the process, in seconds since 1970."),
  ]
}
