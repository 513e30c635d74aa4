import Metrics

/// What one origin's pool reports.
struct ClientMetrics {
  private let connections: Meter
  private let inFlight: Meter
  private let retries: Counter

  init(origin: Origin) {
    let dimensions = [("origin", "\(origin)")]
    connections = Meter(label: "http_client_connections", dimensions: dimensions)
    inFlight = Meter(label: "http_client_requests_in_flight", dimensions: dimensions)
    retries = Counter(label: "http_client_retries", dimensions: dimensions)
  }

  func connectionOpened() { connections.increment() }
  func connectionClosed() { connections.decrement() }
  func requestBegan() { inFlight.increment() }
  func requestEnded() { inFlight.decrement() }
  func requestRepeated() { retries.increment() }
}
