public import Foundation
import GRDB

/// Where the response of a query comes from.
public enum ResponseSource: String, Sendable {
  case network
  /// Larder said that the stored response still holds (304).
  case notModified
  /// Larder could not be reached, or is unavailable: the stored response, or what the replica shows.
  case offline
}

/// The response of a query.
public struct QueryResponse<Content: Sendable>: Sendable {
  /// `data` of the response.
  public let data: Content
  /// GraphQL errors; responses that have some are not stored.
  public let errors: [JSONValue]
  /// Where the response comes from.
  public let source: ResponseSource
  /// When the response came, by the phone's clock; for one from the replica, when it was asked for.
  public let date: Date

  func map<Other>(_ transform: (Content) throws -> Other) rethrows -> QueryResponse<Other> {
    QueryResponse<Other>(data: try transform(data), errors: errors, source: source, date: date)
  }
}

/// Queries of the operations folder, with validators and stored responses.
struct Reads: Sendable {
  /// Stored responses of a profile; the oldest go.
  private static let responsesMax = 500
  /// A longer query string is sent as a body, without validators.
  private static let queryBytesMax = 7_000

  private struct Stored: Sendable {
    let etag: String?
    let body: JSONValue
    let at: Double
  }

  let store: PhoneStore
  let profiles: Profiles
  let clock: @Sendable () -> Date

  /// - Parameter local: reads `data` of the response from the replica, if everything that it has is there. It
  ///   is asked where there is no stored response.
  func read(
    _ operation: String, _ variables: JSONValue,
    local: @escaping @Sendable (LocalDatabase) throws -> JSONValue? = { _ in nil }
  ) async throws -> QueryResponse<JSONValue> {
    try await profiles.reading { id in try await read(operation, variables, as: id, local) }
  }

  private func read(
    _ operation: String, _ variables: JSONValue, as id: String,
    _ local: @escaping @Sendable (LocalDatabase) throws -> JSONValue?
  ) async throws -> QueryResponse<JSONValue> {
    let name = "\(operation) \(variables.text)"
    let stored = try await stored(name, id)
    var request = HTTPRequest(
      path: try HTTPRequest.operationPath(operation), query: Self.query(variables), shape: .result)
    if request.target.utf8.count > Self.queryBytesMax {
      request = .post(request.path, variables, shape: .result)
    } else if let etag = stored?.etag {
      request.headers["If-None-Match"] = etag
    }
    do {
      let response = try await profiles.send(request, as: id)
      if response.status == 304, let stored { return Self.response(stored, .notModified) }
      let body = try response.content()
      let fresh = Stored(
        etag: response.headers["etag"], body: body, at: clock().timeIntervalSinceReferenceDate)
      if body["errors"] == nil { try await keep(fresh, name, id) }
      return Self.response(fresh, .network)
    } catch let error as LarderError {
      guard Self.isTemporary(error) else { throw error }
      if let stored { return Self.response(stored, .offline) }
      let data = try await store.read { db in try local(LocalDatabase(db: db, profile: id)) }
      guard let data else { throw error }
      return QueryResponse(data: data, errors: [], source: .offline, date: clock())
    }
  }

  /// The variables as a query string: lists and objects as JSON.
  static func query(_ variables: JSONValue) -> [(name: String, value: String)] {
    (variables.object ?? [:]).sorted { $0.key < $1.key }
      .map { ($0.key, $0.value.string ?? $0.value.text) }
  }

  private static func isTemporary(_ error: LarderError) -> Bool {
    switch error {
    case .offline, .unavailable: true
    case .refused(let problem): problem.status >= 500
    default: false
    }
  }

  private static func response(
    _ stored: Stored, _ source: ResponseSource
  ) -> QueryResponse<JSONValue> {
    QueryResponse(
      data: stored.body["data"] ?? .null, errors: stored.body["errors"]?.array ?? [],
      source: source, date: Date(timeIntervalSinceReferenceDate: stored.at))
  }

  private func stored(_ name: String, _ id: String) async throws -> Stored? {
    try await store.read { db in
      try Row.fetchOne(
        db, sql: "SELECT etag, body, at FROM response WHERE profile = ? AND name = ?",
        arguments: [id, name]
      ).map { Stored(etag: $0[0], body: try JSONValue(parsing: $0[1] as String), at: $0[2]) }
    }
  }

  /// Stores a response; without space for it, it is still one.
  private func keep(_ response: Stored, _ name: String, _ id: String) async throws {
    do {
      try await store.write { db in
        try db.execute(
          sql: "INSERT OR REPLACE INTO response VALUES (?, ?, ?, ?, ?)",
          arguments: [id, name, response.etag, response.body.text, response.at])
        try db.execute(
          sql: """
            DELETE FROM response WHERE profile = ?1 AND name IN (
              SELECT name FROM response WHERE profile = ?1 ORDER BY at DESC LIMIT -1 OFFSET ?2)
            """, arguments: [id, Self.responsesMax])
      }
    } catch LarderError.storageFull {}
  }
}
