package import Gateway
import HTTPServer
import Model
import Storage
import Transport

/// The metrics that parts of the service count by themselves, as families for ``PrometheusRegistry``.
struct ServiceMetrics: Sendable {
  let store: Store
  /// The head of the change log that clients are shown.
  let cursors: CursorIssuer
  let cache: RenderedCache
  let reader: QueryReader
  let upstreams: UpstreamOverview
  let operationCount: Int
  let dataFolder: String
  /// Nil on a single machine.
  let cluster: (any ClusterStatus)?

  func families(of server: HTTPService) -> [MetricFamily] {
    Self.requests(server.counts) + storage + upstream
      + (cluster.map { Self.families(of: $0.measures) } ?? [])
  }

  static func families(of cluster: ClusterMeasures) -> [MetricFamily] {
    [
      .gauge("larder_cluster_position", Int(cluster.position)),
      .gauge("larder_cluster_lag_rows", Int(cluster.lagRows)),
      MetricFamily(
        "larder_cluster_lag_seconds", .gauge, [.init(cluster.lag / .seconds(1))]),
      .gauge("larder_cluster_epoch", Int(cluster.epoch)),
      .gauge("larder_cluster_is_leader", cluster.isLeader ? 1 : 0),
      .gauge("larder_cluster_cut_off", cluster.isCutOff ? 1 : 0),
    ] + (cluster.inboxEntries.map { [.gauge("larder_cluster_inbox_entries", $0)] } ?? [])
  }

  private static func requests(_ counts: ServerCounts) -> [MetricFamily] {
    func family(
      _ name: String, _ kind: MetricFamily.Kind, _ value: (RequestCounts) -> MetricFamily.Value
    ) -> MetricFamily {
      MetricFamily(
        name, kind,
        counts.requests.map { series, requests in
          MetricFamily.Sample(
            labels: [
              .init("route", series.route), .init("method", series.method),
              .init("status", "\(series.status)"),
            ], value: value(requests))
        })
    }
    return [
      family("larder_http_request_duration_seconds", .histogram) {
        .histogram(.init($0.durations))
      },
      family("larder_http_request_content_bytes_total", .counter) {
        .number(Double($0.bytesReceived))
      },
      family("larder_http_response_bytes_total", .counter) { .number(Double($0.bytesSent)) },
      MetricFamily(
        "larder_cache_responses_total", .counter,
        counts.cacheUses.map { use, count in
          .init([("operation", use.operation), ("outcome", use.use.name)], Double(count))
        }),
      .gauge("larder_http_connections", counts.connections),
      .counter("larder_http_connections_accepted_total", counts.connectionsAccepted),
      .counter("larder_http_received_bytes_total", counts.bytesReceived),
      .counter("larder_http_sent_bytes_total", counts.bytesSent),
      .gauge("larder_http_websockets", counts.webSockets),
      .gauge("larder_http_event_streams", counts.eventStreams),
      .counter("larder_rate_limit_refusals_total", counts.rateRefusals),
    ]
  }

  private var storage: [MetricFamily] {
    let size = { FileSystem.bytes(of: store.databasePath + $0) ?? 0 }
    let head = store.head
    let disk = [
      ("larder_disk_free_bytes", FileSystem.freeBytes(at: dataFolder)),
      ("larder_disk_size_bytes", FileSystem.totalBytes(at: dataFolder)),
    ]
    return [
      .gauge("larder_database_bytes", size("")),
      .gauge("larder_database_wal_bytes", size("-wal")),
      .gauge("larder_change_log_head", Int(head.value)),
      .gauge("larder_change_log_floor", Int(store.floor.value)),
      .gauge("larder_change_log_lag", max(0, Int(head.value - cursors.head.value))),
      .gauge("larder_memory_cache_bytes", cache.byteCount),
      .gauge("larder_memory_cache_responses", cache.count),
      .gauge("larder_operations", operationCount),
      .gauge("larder_upstream_flights", reader.flightCount),
      MetricFamily("larder_build_info", .info, [.init([("version", Version.text)], 1)]),
    ] + disk.compactMap { name, bytes in bytes.map { .gauge(name, $0) } }
  }

  private var upstream: [MetricFamily] {
    let breakers = upstreams.statuses.compactMap { status in
      status.breaker.map { (status.name.text, $0) }
    }
    return [
      MetricFamily(
        "larder_upstream_breaker_state", .gauge,
        breakers.flatMap { upstream, breaker in
          ["closed", "open", "probing"].map { state in
            .init([("upstream", upstream), ("state", state)], breaker.state == state ? 1 : 0)
          }
        }),
      MetricFamily(
        "larder_upstream_breaker_operations", .gauge,
        breakers.map { upstream, breaker in
          .init([("upstream", upstream)], Double(breaker.operations.count))
        }),
    ]
  }
}

/// The metrics of the process, under the names that all Prometheus clients use.
package enum ProcessMetrics {
  package static func families() -> [MetricFamily] {
    let usage = ProcessUsage.current()
    return [
      MetricFamily("process_cpu_seconds_total", .counter, [.init(usage.cpuSeconds)]),
      .gauge("process_resident_memory_bytes", usage.residentBytes),
      .gauge("process_virtual_memory_bytes", usage.virtualBytes),
      .gauge("process_open_fds", usage.openDescriptors),
      .gauge("process_max_fds", usage.descriptorsMax),
      MetricFamily(
        "process_start_time_seconds", .gauge,
        ProcessUsage.startSeconds().map { [.init($0)] } ?? []),
    ]
  }
}

extension MetricFamily {
  static func gauge(_ name: String, _ value: Int) -> MetricFamily {
    MetricFamily(name, .gauge, [.init(Double(value))])
  }

  fileprivate static func counter(_ name: String, _ value: Int) -> MetricFamily {
    MetricFamily(name, .counter, [.init(Double(value))])
  }
}

extension MetricFamily.Sample {
  init(_ value: Double) {
    self.init([], value)
  }
}

extension MetricFamily.Histogram {
  init(_ durations: DurationCounts) {
    self.init(
      bounds: DurationCounts.boundsSeconds, counts: durations.buckets,
      sum: Double(durations.sumNanoseconds) / 1e9)
  }
}
