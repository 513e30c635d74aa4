internal import CPostgreSQL

/// Where PostgreSQL is, and who connects: a connection string of libpq.
package struct PostgresAddress: Sendable, Hashable {
  /// `postgres://user:password@host:port/database?sslmode=verify-full`, or the form `host=… user=…`.
  package let text: String
  /// The time after which a peer that does not acknowledge is given up, so that a cut network is noticed while
  /// the lease is still valid.
  package let silenceMax: Duration

  /// Throws ``PostgresError/unusable(_:)`` if libpq is missing, or the text is no connection string. The error
  /// does not contain the password.
  package init(_ text: String, silenceMax: Duration = .seconds(5)) throws(PostgresError) {
    try PostgresLibrary.load()
    if text.utf8.contains(0) { throw .unusable("the connection string has a zero character") }
    if let problem = larder_pq_check_connection_string(text) {
      defer { larder_pq_release(problem) }
      let reason = String(cString: problem).trimmedLine
      // libpq quotes the part that it cannot read, which can be the password.
      let isSafe = !reason.contains("\"")
      throw .unusable(
        "the connection string is not valid" + (isSafe ? ": \(reason)" : "")
          + "; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE")
    }
    self.text = text
    self.silenceMax = silenceMax
  }

  /// Names and values for libpq: defaults, which the text can override, then the text, then what must hold.
  var parameters: [(name: String, value: String)] {
    let milliseconds = max(1000, Int(silenceMax / .milliseconds(1)))
    let probes = max(1, milliseconds / 3000)
    var parameters = [
      // The primary, of several hosts or behind a name that moves.
      (name: "target_session_attrs", value: "read-write"),
      (name: "fallback_application_name", value: "larder"),
      (name: "keepalives", value: "1"),
      (name: "keepalives_idle", value: "\(probes)"),
      (name: "keepalives_interval", value: "\(probes)"),
      (name: "keepalives_count", value: "2"),
    ]
    if larder_pq_library_version() >= 120_000 {
      parameters.append((name: "tcp_user_timeout", value: "\(milliseconds)"))
    }
    parameters.append((name: "dbname", value: text))
    parameters.append((name: "client_encoding", value: "UTF8"))
    return parameters
  }
}

/// libpq, loaded at first use.
package enum PostgresLibrary {
  /// Throws ``PostgresError/unusable(_:)`` with the name of the missing package.
  package static func load() throws(PostgresError) {
    if let problem = larder_pq_load() { throw .unusable(String(cString: problem)) }
  }
}

extension String {
  /// One line of libpq's messages, which end with a line break.
  var trimmedLine: String {
    split(whereSeparator: \.isNewline).map { line in
      String(line.drop { $0 == " " || $0 == "\t" })
    }.joined(separator: "; ")
  }
}
