import GRDB

extension Larder {
  /// Stores the token that the phone's push service gave the app, and tells Larder: the device has it, and
  /// notifications to its user reach it. Nil ends that. The token is the phone's: Larder is told again for
  /// each user who signs in.
  ///
  /// - Returns: whether Larder has been told; else `run` does so later, as does another call.
  @discardableResult
  public func registerPush(token: String?) async throws -> Bool {
    _ = try await profiles.needActive()
    // The empty text stands for none: null is a phone that has never had one.
    try await store.write { db in
      try db.execute(
        sql: "UPDATE profile SET pushToken = ?, pushSentFor = NULL", arguments: [token ?? ""])
    }
    do {
      try await sendPushToken()
      return true
    } catch LarderError.offline, LarderError.unavailable {
      return false
    }
  }

  /// Tells Larder of a push token that it does not have for this device and user.
  func sendPushToken() async throws {
    let profile = try await profiles.needActive()
    let stored = try await store.read { db in
      try Row.fetchOne(
        db, sql: "SELECT pushToken, pushSentFor FROM profile WHERE id = ?",
        arguments: [profile.id]
      ).map { row -> (token: String?, sentFor: String?) in (row[0], row[1]) }
    }
    let wanted = "\(profile.deviceID) \(profile.session == nil ? "" : profile.userID ?? "")"
    guard let token = stored?.token, stored?.sentFor != wanted else { return }
    let content: JSONValue = ["pushToken": token.isEmpty ? .null : .string(token)]
    var update = HTTPRequest.post("/v1/devices/me", content, shape: .object(["id": .string]))
    update.method = "PATCH"
    if let error = try await profiles.send(update, as: profile.id).error { throw error }
    if profile.session != nil {
      let tie = HTTPRequest(
        method: token.isEmpty ? "DELETE" : "PUT", path: "/v1/push/registration",
        shape: token.isEmpty ? .empty : .object(["userId": .string]))
      if let error = try await profiles.send(tie, as: profile.id).error { throw error }
    }
    // Larder ties a token to the last user alone.
    try await store.write { db in
      try db.execute(
        sql: "UPDATE profile SET pushSentFor = CASE id WHEN ? THEN ? END WHERE pushToken = ?",
        arguments: [profile.id, wanted, token])
    }
  }
}
