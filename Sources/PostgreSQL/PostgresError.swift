/// Why a connection or a statement has failed, by what is known of its effect.
package enum PostgresError: Error, Equatable {
  /// There is no connection, or it ended before the statement was completely sent: the server has done nothing.
  case unreachable(String)
  /// The statement was sent, and the connection or the time ended before its response: it may be in effect.
  case lost(String)
  /// The server has refused the connection or the statement, which has no effect.
  case server(PostgresFault)
  /// No connection is possible before something is installed or changed on this machine.
  case unusable(String)
}

/// An error that the server has reported.
package struct PostgresFault: Equatable, Sendable {
  /// Five letters and digits, see https://www.postgresql.org/docs/current/errcodes-appendix.html.
  package let sqlState: String
  package let message: String
  package let hint: String?

  package init(sqlState: String, message: String, hint: String? = nil) {
    self.sqlState = sqlState
    self.message = message
    self.hint = hint
  }

  /// Whether the same statement may succeed later: the server stops, starts, is a standby, or has no place
  /// (classes 08, 53, 57 and 58), or transactions have disturbed each other (40 and 55P03).
  package var isTransient: Bool {
    ["08", "40", "53", "57", "58"].contains(sqlState.prefix(2)) || sqlState == "55P03"
      || sqlState == "25006"
  }
}

extension PostgresError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreachable(let reason), .lost(let reason), .unusable(let reason): reason
    case .server(let fault): fault.description
    }
  }
}

extension PostgresFault: CustomStringConvertible {
  package var description: String {
    "\(message) (SQLSTATE \(sqlState))" + (hint.map { "; \($0)" } ?? "")
  }
}
