internal import CPostgreSQL

/// What `NOTIFY` has sent to a session that listens.
package struct PostgresNotification: Hashable, Sendable {
  package let channel: String
  package let payload: String

  /// Takes all that a connection has read.
  static func taken(from connection: OpaquePointer) -> [PostgresNotification] {
    var found: [PostgresNotification] = []
    while true {
      let isTaken = withUnsafeMutablePointer(to: &found) { found in
        larder_pq_take_notification(connection, found) { context, channel, payload in
          guard let context, let channel, let payload else { return }
          context.assumingMemoryBound(to: [PostgresNotification].self).pointee.append(
            PostgresNotification(
              channel: String(cString: channel), payload: String(cString: payload)))
        }
      }
      if isTaken == 0 { return found }
    }
  }
}
