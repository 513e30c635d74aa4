import HTTPWire
import Synchronization

/// The counts of a server since its start.
package struct ServerCounts: Sendable {
  /// The route, method and status of responses.
  package struct Series: Hashable, Sendable {
    /// A pattern of the route table, or ``RequestNames/other``.
    package let route: String
    /// Or ``RequestNames/other``.
    package let method: String
    package let status: Int
  }

  /// A use of the response cache.
  package struct OperationUse: Hashable, Sendable {
    package let operation: String
    package let use: CacheUse
  }

  package fileprivate(set) var requests: [Series: RequestCounts] = [:]
  package fileprivate(set) var cacheUses: [OperationUse: UInt64] = [:]
  package fileprivate(set) var connectionsAccepted = 0
  package fileprivate(set) var bytesReceived = 0
  package fileprivate(set) var bytesSent = 0
  package fileprivate(set) var rateRefusals = 0
  /// Open now.
  package internal(set) var connections = 0
  /// Open now.
  package internal(set) var webSockets = 0
  /// Responses open now that are streams of events.
  package internal(set) var eventStreams = 0
}

/// The counters of a server.
///
/// Loops count in a ``LoopTally`` and add it a few times a second.
final class ServerCounters: Sendable {
  private let state = Mutex(ServerCounts())
  private let webSockets = Atomic(0)
  private let eventStreams = Atomic(0)

  func add(_ tally: LoopTally, names: RequestNames) {
    state.withLock { counts in
      counts.connectionsAccepted += tally.connections
      counts.bytesReceived += tally.bytesReceived
      counts.bytesSent += tally.bytesSent
      counts.rateRefusals += tally.rateRefusals
      tally.forEachSeries { series, added in
        let key = ServerCounts.Series(
          route: names.route(series.route), method: series.method?.name ?? RequestNames.other,
          status: series.status)
        if counts.requests[key]?.add(added) == nil { counts.requests[key] = added }
      }
      tally.forEachCacheUse { operation, use, count in
        guard let name = names.operation(operation) else { return }
        counts.cacheUses[.init(operation: name, use: use), default: 0] += count
      }
    }
  }

  func webSocketOpened() { webSockets.add(1, ordering: .relaxed) }
  func webSocketClosed() { webSockets.subtract(1, ordering: .relaxed) }
  func eventStreamOpened() { eventStreams.add(1, ordering: .relaxed) }
  func eventStreamClosed() { eventStreams.subtract(1, ordering: .relaxed) }

  var counts: ServerCounts {
    var counts = state.withLock { $0 }
    counts.webSockets = webSockets.load(ordering: .relaxed)
    counts.eventStreams = eventStreams.load(ordering: .relaxed)
    return counts
  }
}
