import Metrics

/// The server's metrics.
///
/// Loops count in plain integers and add the sums a few times a second, so that the hot path pays only
/// for an addition.
struct ServerCounters: Sendable {
  private let requests: [Counter]
  private let connections = Counter(label: "http_server_connections_total")
  private let bytesReceived = Counter(label: "http_server_received_bytes_total")
  private let bytesSent = Counter(label: "http_server_sent_bytes_total")
  private let webSockets = Meter(label: "http_server_websockets")
  private let openConnections = Gauge(label: "http_server_connections")

  init() {
    requests = (1...5).map { hundreds in
      Counter(label: "http_server_requests_total", dimensions: [("status", "\(hundreds)xx")])
    }
  }

  func add(_ tally: LoopTally) {
    for (index, count) in tally.requests.enumerated() where count > 0 {
      requests[index].increment(by: count)
    }
    if tally.connections > 0 { connections.increment(by: tally.connections) }
    if tally.bytesReceived > 0 { bytesReceived.increment(by: tally.bytesReceived) }
    if tally.bytesSent > 0 { bytesSent.increment(by: tally.bytesSent) }
  }

  func webSocketOpened() { webSockets.increment() }
  func webSocketClosed() { webSockets.decrement() }

  func setOpen(_ count: Int) {
    openConnections.record(count)
  }
}

/// Counts of one loop since its last flush.
struct LoopTally {
  /// Responses by the first digit of their status, 1xx first.
  private(set) var requests = [0, 0, 0, 0, 0]
  var connections = 0
  var bytesReceived = 0
  var bytesSent = 0

  mutating func countResponse(_ status: Int) {
    let index = status / 100 - 1
    if requests.indices.contains(index) { requests[index] += 1 }
  }
}
