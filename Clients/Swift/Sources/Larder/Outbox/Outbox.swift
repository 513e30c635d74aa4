import Foundation

/// Submits, sends and withdraws items of the outbox.
struct Outbox: Sendable {
  let store: PhoneStore
  let profiles: Profiles
  let exclusive = Exclusive()

  init(store: PhoneStore, profiles: Profiles) {
    self.store = store
    self.profiles = profiles
  }

  // MARK: Submitting

  func submit(
    operation: String, variables: JSONValue, mode: SyncMode, object: String?, refs: [String]?,
    optimistic: [OptimisticChange]?
  ) async throws -> String {
    let payload = Self.payload(operation, variables, mode.rawValue, object, refs, optimistic)
    return try await add(operation, payload, optimistic ?? []).key
  }

  func write(_ operations: [JSONValue], mode: SyncMode) async throws -> String {
    let overlay = try operations.compactMap(Self.overlay)
    let payload: JSONValue = ["write": .array(operations), "mode": .string(mode.rawValue)]
    return try await add(OutboxRows.writeOperation, payload, overlay).key
  }

  private func add(
    _ operation: String, _ payload: JSONValue, _ overlay: [OptimisticChange]
  ) async throws -> OutboxRows.Item {
    let id = try await profiles.needActive().id
    return try await store.write { db in
      try OutboxRows(db, id).add(
        operation: operation, payload: payload, isForced: false, overlay: overlay)
    }
  }

  private static func payload(
    _ operation: String, _ variables: JSONValue, _ mode: String, _ object: String?,
    _ refs: [String]?, _ optimistic: [OptimisticChange]?
  ) -> JSONValue {
    var members: [String: JSONValue] = [
      "operation": .string(operation), "variables": variables, "mode": .string(mode),
    ]
    if let object { members["object"] = .string(object) }
    if let refs { members["refs"] = .array(refs.map { .string($0) }) }
    if let optimistic { members["optimistic"] = .array(optimistic.map(\.json)) }
    return .object(members)
  }

  /// How an operation on a local row shows until Larder has applied it; nil if it names no row.
  private static func overlay(of operation: JSONValue) throws -> OptimisticChange? {
    guard let op = operation["op"]?.string, let type = operation["type"]?.string else {
      throw LarderError.invalidArgument("A local write needs \"op\" and \"type\".")
    }
    guard let id = operation["id"] else { return nil }
    let kind: OptimisticChange.Kind =
      switch op {
      case "update": .merge
      case "delete": .delete
      default: .create
      }
    return OptimisticChange(
      kind, type: type, id: id.string ?? id.text, fields: operation["data"]?.object ?? [:])
  }

  // MARK: Sending

  // Items are sent one at a time: `exclusive` is held from the choice of an item to the record of its
  // response. Between two items another caller can have its turn.

  /// Sends a mutation ahead of all others.
  func force(
    operation: String, variables: JSONValue, object: String?, refs: [String]?,
    optimistic: [OptimisticChange]?
  ) async throws -> ForcedResponse {
    let id = try await profiles.needActive().id
    let payload = Self.payload(operation, variables, "force", object, refs, optimistic)
    return try await exclusive.run {
      let item = try await store.write { db in
        try OutboxRows(db, id).add(
          operation: operation, payload: payload, isForced: true, overlay: optimistic ?? [])
      }
      do {
        guard let reply = try await deliver(id, { try $0.item(key: item.key) }) else {
          // It was withdrawn between the two.
          throw LarderError.unknownKey(item.key)
        }
        return ForcedResponse(key: item.key, response: reply["response"] ?? .null)
      } catch {
        // What cannot have been sent is not tried any more.
        try await store.finish { db in
          let rows = OutboxRows(db, id)
          if try rows.isWaiting(item, wasTried: false) { try rows.remove(item.number) }
        }
        throw error
      }
    }
  }

  /// Sends what waits, until an item has no response.
  ///
  /// - Returns: how many items have had a 2xx, how many wait, and why it stopped.
  func send() async throws -> (sent: Int, left: Int, error: LarderError?) {
    let id = try await profiles.needActive().id
    var sent = 0
    var stopped: LarderError?
    do {
      try await profiles.sendSignOuts()
      // Also before what waits, which may stop this.
      try await cancelWithdrawn(id)
      while true {
        do {
          let reply = try await exclusive.run {
            try await deliver(id) { try $0.firstWaiting() }
          }
          if reply == nil { break }
          sent += 1
        } catch LarderError.refused(let problem) where problem.isAboutContent {
          continue  // That was its outcome.
        } catch LarderError.deviceLost {
          continue
        }
      }
      try await cancelWithdrawn(id)
    } catch let error as LarderError {
      switch error {
      case .offline, .unavailable: stopped = error
      case .refused(let problem) where problem.status != 401: stopped = error
      case .refused: throw LarderError.signedOut
      default: throw error
      }
    }
    let left = try await store.read { db in try OutboxRows(db, id).waitingCount() }
    return (sent, left, stopped)
  }

  /// Sends one waiting item. A refusal of it is its outcome, and is thrown.
  ///
  /// - Parameter choose: gives the item, in the transaction that marks it as tried.
  /// - Returns: Larder's reply; nil if the item does not wait, or there is none.
  private func deliver(
    _ id: String, _ choose: @escaping @Sendable (OutboxRows) throws -> OutboxRows.Item?
  ) async throws -> JSONValue? {
    let chosen = try await store.write { db -> OutboxRows.Item? in
      let rows = OutboxRows(db, id)
      guard let item = try choose(rows), item.state == .waiting else { return nil }
      if !item.wasTried { try rows.mark(item.number, wasTried: true) }
      return item
    }
    guard let item = chosen else { return nil }
    let arrival = Locked(false)
    let request = HTTPRequest(
      method: "POST", path: "/v1/mutations",
      headers: ["Content-Type": "application/json", "Idempotency-Key": item.key],
      body: item.payload, arrival: arrival, shape: .mutation)
    let response: HTTPResponse
    do {
      response = try await profiles.send(request, as: id, item: item)
    } catch {
      if !item.wasTried, Self.isUnsent(error, arrival) {
        try await store.finish { db in
          let rows = OutboxRows(db, id)
          if try rows.isWaiting(item) { try rows.mark(item.number, wasTried: false) }
        }
      }
      throw error
    }
    // The item can have been lost with its device meanwhile: then it has its outcome.
    if let error = response.error {
      if response.problem.isAboutContent {
        try await store.write { db in
          let rows = OutboxRows(db, id)
          if try rows.isWaiting(item) {
            try rows.refuse(item, from: ["problem": response.problem.json])
          }
        }
      }
      throw error
    }
    let reply = try response.content()
    try await store.write { db in
      let rows = OutboxRows(db, id)
      if try rows.isWaiting(item) { try rows.accept(item, reply) }
    }
    return reply
  }

  /// Whether Larder cannot have a request that failed.
  private static func isUnsent(_ error: any Error, _ arrival: Locked<Bool>) -> Bool {
    switch error {
    case LarderError.offline(_, wasSent: false), LarderError.signedOut: true
    case is CancellationError: arrival.withLock { !$0 }
    default: false
    }
  }

  // MARK: The list

  func items() async throws -> [OutboxItem] {
    try await profiles.reading { id in
      try await store.read { db in
        try OutboxRows(db, id).items().map {
          OutboxItem(
            key: $0.key, operation: $0.operation, state: $0.isWithdrawn ? .withdrawn : $0.state,
            reason: $0.report?["reason"]?.string)
        }
      }
    }
  }

  func outcomes() async throws -> [Outcome] {
    try await profiles.reading { id in
      try await store.read { db in try OutboxRows(db, id).outcomes() }
    }
  }

  /// Forgets outcomes that the app has read.
  func forget(_ keys: [String]) async throws {
    let id = try await profiles.needActive().id
    try await store.write { db in
      for key in keys {
        try db.execute(
          sql: "DELETE FROM outcome WHERE profile = ? AND key = ?", arguments: [id, key])
      }
    }
  }

  private func item(_ key: String, _ id: String) async throws -> OutboxRows.Item {
    guard let found = try await find(key, id) else { throw LarderError.unknownKey(key) }
    return found
  }

  private func find(_ key: String, _ id: String) async throws -> OutboxRows.Item? {
    try await store.read { db in try OutboxRows(db, id).item(key: key) }
  }

  /// Lets Larder try a parked item again.
  func retry(_ key: String) async throws {
    let id = try await profiles.needActive().id
    let item = try await item(key, id)
    guard item.state == .parked, let mutation = item.mutation else {
      throw LarderError.notParked(key)
    }
    let path = "/v1/mutations/\(HTTPRequest.encoded(mutation))/retry"
    let request = HTTPRequest(method: "POST", path: path, shape: .mutation)
    let reply = try await profiles.send(request, as: id).content()
    try await store.write { db in
      try OutboxRows(db, id).update(item.number, "state = 'enqueued', report = ?", [reply.text])
    }
  }

  /// Withdraws an item: on the phone, or at Larder, which then reports its outcome. Where Larder does not
  /// respond, that is done by `send`, after all that waits.
  func discard(_ key: String) async throws {
    let id = try await profiles.needActive().id
    guard try await !removeUntried(item(key, id), id) else { return }
    if try await find(key, id)?.state == .waiting {
      do {
        try await exclusive.run {
          // What was sent meanwhile can have failed without a connection.
          guard let item = try await find(key, id), try await !removeUntried(item, id) else {
            return
          }
          try await store.write { db in
            let rows = OutboxRows(db, id)
            if try rows.isWaiting(item) { try rows.withdraw(item) }
          }
          // Larder may have it: it must respond before the item can be withdrawn.
          _ = try await deliver(id) { try $0.item(key: key) }
        }
        if let item = try await find(key, id), item.state != .waiting {
          try await cancel(item, id)
        }
      } catch LarderError.refused(let problem) where problem.isAboutContent {
        // That was its outcome, unless Larder has it: then it goes on.
        if try await find(key, id) != nil { throw LarderError.refused(problem) }
      } catch LarderError.deviceLost, LarderError.offline, LarderError.unavailable,
        LarderError.signedOut
      {
        return
      }
    } else if let item = try await find(key, id) {
      try await cancel(item, id)
    }
  }

  /// Has Larder cancel the items that were withdrawn before it had responded to them.
  private func cancelWithdrawn(_ id: String) async throws {
    for item in try await store.read({ db in try OutboxRows(db, id).withdrawn() }) {
      do {
        try await cancel(item, id)
      } catch LarderError.refused(let problem) where Self.endsWithdrawal(problem) {
        continue  // It goes on.
      }
    }
  }

  /// Whether a refusal says that an item can no longer be cancelled, whatever it says about trying again.
  private static func endsWithdrawal(_ problem: Problem) -> Bool {
    [404, 409, 410].contains(problem.status) || problem.isAboutContent
  }

  /// Has Larder cancel or discard an item that it has. A refusal, that the item goes on, is thrown.
  private func cancel(_ item: OutboxRows.Item, _ id: String) async throws {
    let path = "/v1/mutations/\(HTTPRequest.encoded(item.mutation ?? ""))"
    let request =
      item.state == .parked
      ? HTTPRequest(method: "POST", path: path + "/discard", shape: .mutation)
      : HTTPRequest(method: "DELETE", path: path, shape: .mutation)
    let response = try await profiles.send(request, as: id)
    if item.isWithdrawn, response.error == nil || Self.endsWithdrawal(response.problem) {
      try await store.write { db in
        try OutboxRows(db, id).update(item.number, "isWithdrawn = 0", [])
      }
    }
    if let error = response.error { throw error }
  }

  /// Ends an item that was never sent. False if Larder may have it.
  private func removeUntried(_ item: OutboxRows.Item, _ id: String) async throws -> Bool {
    try await store.write { db in
      let rows = OutboxRows(db, id)
      guard try rows.isWaiting(item, wasTried: false) else { return false }
      try rows.refuse(item, state: "discarded")
      return true
    }
  }
}
