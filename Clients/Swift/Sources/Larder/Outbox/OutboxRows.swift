import Foundation
import GRDB

/// The outbox of a profile within a transaction.
struct OutboxRows {
  struct Item: Sendable {
    let number: Int
    let key: String
    let operation: String
    let payload: Data
    let isForced: Bool
    var state: OutboxItem.State
    let wasTried: Bool
    /// Whether the app has withdrawn it, and Larder must still be told.
    let isWithdrawn: Bool
    let mutation: String?
    let report: JSONValue?

    var isWrite: Bool { operation == OutboxRows.writeOperation }

    init(row: Row) {
      number = row["number"]
      key = row["key"]
      operation = row["operation"]
      payload = row["payload"]
      isForced = row["isForced"]
      state = OutboxItem.State(rawValue: row["state"]) ?? .waiting
      wasTried = row["wasTried"]
      isWithdrawn = row["isWithdrawn"]
      mutation = row["mutation"]
      report = (row["report"] as String?).flatMap { try? JSONValue(parsing: $0) }
    }
  }

  static let writeOperation = "$write"
  /// Outcomes that are kept for the app; those that came first go.
  static let outcomesMax = 10_000
  /// States of a mutation in which it has ended.
  static let ends: Set<String> = [
    "applied", "rejected", "superseded", "annihilated", "expired", "cancelled", "discarded",
  ]

  let db: Database
  let profile: String

  init(_ db: Database, _ profile: String) {
    self.db = db
    self.profile = profile
  }

  // MARK: Items

  func items() throws -> [Item] {
    try Row.fetchAll(
      db, sql: "SELECT * FROM item WHERE profile = ? ORDER BY number", arguments: [profile]
    ).map(Item.init)
  }

  func item(key: String) throws -> Item? {
    try Row.fetchOne(
      db.cachedStatement(sql: "SELECT * FROM item WHERE profile = ? AND key = ?"),
      arguments: [profile, key]
    ).map(Item.init)
  }

  /// Whether an item has no response yet, and was not lost with its device.
  func isWaiting(_ item: Item, wasTried: Bool? = nil) throws -> Bool {
    guard let present = try self.item(key: item.key) else { return false }
    return present.state == .waiting && (wasTried ?? present.wasTried) == present.wasTried
  }

  static let firstWaiting = """
    SELECT * FROM item WHERE profile = ? AND state = 'waiting'
    ORDER BY isWithdrawn, isForced DESC, number LIMIT 1
    """

  /// The item that is sent next.
  func firstWaiting() throws -> Item? {
    try Row.fetchOne(db, sql: Self.firstWaiting, arguments: [profile]).map(Item.init)
  }

  func waitingCount() throws -> Int {
    try Int.fetchOne(
      db, sql: "SELECT count(*) FROM item WHERE profile = ? AND state = 'waiting'",
      arguments: [profile]) ?? 0
  }

  /// Adds an item, with key and payload as they will be sent each time.
  func add(
    operation: String, payload: JSONValue, isForced: Bool, overlay: [OptimisticChange]
  ) throws -> Item {
    let key = UUID().uuidString.lowercased()
    let number = try Int.fetchOne(
      db.cachedStatement(
        sql: "UPDATE profile SET submitted = submitted + 1 WHERE id = ? RETURNING submitted"),
      arguments: [profile])
    guard let number else { throw LarderError.storage("the profile has no row") }
    try db.executeKept(
      """
      INSERT INTO item (profile, number, key, operation, payload, isForced, state)
      VALUES (?, ?, ?, ?, ?, ?, 'waiting')
      """, [profile, number, key, operation, payload.data, isForced])
    for (step, change) in overlay.enumerated() {
      try db.executeKept(
        "INSERT INTO overlay VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
          profile, number, step, change.kind.rawValue, change.type, change.id,
          JSONValue.object(change.fields).text,
        ])
    }
    try OverlayRows(db, profile).refold(overlay.map { EntityKey(type: $0.type, id: $0.id) })
    guard let item = try item(key: key) else { throw LarderError.storage("the item has no row") }
    return item
  }

  func mark(_ number: Int, wasTried: Bool) throws {
    try update(number, "wasTried = ?", [wasTried])
  }

  func update(_ number: Int, _ assignments: String, _ values: StatementArguments) throws {
    try db.execute(
      sql: "UPDATE item SET \(assignments) WHERE profile = ? AND number = ?",
      arguments: values + [profile, number])
  }

  /// Withdraws an item that Larder may have: it does not show any more, and is sent after all others. The
  /// waiting ones that mention an entity which it was to create are refused.
  func withdraw(_ item: Item) throws {
    try update(item.number, "isWithdrawn = 1", [])
    let overlays = OverlayRows(db, profile)
    let keys = try overlays.keys(of: item.number)
    let created = try self.created(by: item)
    try dropOverlay(of: item.number)
    try overlays.refold(keys)
    try refuseDependents(of: created, except: item)
  }

  /// The items that were withdrawn, and that Larder has.
  func withdrawn() throws -> [Item] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT * FROM item WHERE profile = ? AND isWithdrawn AND state != 'waiting' ORDER BY number
        """, arguments: [profile]
    ).map(Item.init)
  }

  /// Removes an item and its overlay.
  func remove(_ number: Int) throws {
    let overlays = OverlayRows(db, profile)
    let keys = try overlays.keys(of: number)
    for table in ["overlay", "item"] {
      try db.execute(
        sql: "DELETE FROM \(table) WHERE profile = ? AND number = ?", arguments: [profile, number])
    }
    try overlays.refold(keys)
  }

  /// Removes the overlay of an item that goes on.
  func dropOverlay(of number: Int) throws {
    try db.execute(
      sql: "DELETE FROM overlay WHERE profile = ? AND number = ?", arguments: [profile, number])
  }

  // MARK: Ends

  /// Ends an item. Its overlay goes with it.
  func end(_ item: Item, state: String, from content: [String: JSONValue] = [:]) throws {
    var told = content.filter {
      ["reason", "problem", "response"].contains($0.key) && !$0.value.isNull
    }
    told["state"] = .string(state)
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO outcome (profile, number, key, operation, content, ended)
        VALUES (?1, ?2, ?3, ?4, ?5,
          (SELECT ifnull(max(ended), 0) + 1 FROM outcome WHERE profile = ?1))
        """,
      arguments: [profile, item.number, item.key, item.operation, JSONValue.object(told).text])
    try db.execute(
      sql: """
        DELETE FROM outcome WHERE profile = ?1 AND ended <= (
          SELECT ended FROM outcome WHERE profile = ?1 ORDER BY ended DESC LIMIT 1 OFFSET ?2)
        """, arguments: [profile, Self.outcomesMax])
    try remove(item.number)
  }

  /// Ends an item that Larder did not take, or that was withdrawn, and the waiting ones that mention an
  /// entity which it was to create.
  func refuse(
    _ item: Item, state: String = "refused", from content: [String: JSONValue] = [:]
  ) throws {
    let created = try self.created(by: item)
    try end(item, state: state, from: content)
    try refuseDependents(of: created, except: item)
  }

  private func created(by item: Item) throws -> [String] {
    try String.fetchAll(
      db, sql: "SELECT id FROM overlay WHERE profile = ? AND number = ? AND op = 'create'",
      arguments: [profile, item.number])
  }

  private func refuseDependents(of created: [String], except item: Item) throws {
    for id in created where TemporaryID.isOne(id) {
      for other in try items() where other.state == .waiting && other.number != item.number {
        guard other.payload.range(of: Data(id.utf8)) != nil,
          let present = try self.item(key: other.key)
        else { continue }
        try refuse(present, from: ["reason": "dependency"])
      }
    }
  }

  func outcomes() throws -> [Outcome] {
    let rows = try Row.fetchAll(
      db, sql: "SELECT * FROM outcome WHERE profile = ? ORDER BY number", arguments: [profile])
    return try rows.map { row in
      let content = try JSONValue(parsing: row["content"] as String)
      return Outcome(
        key: row["key"], operation: row["operation"], state: content["state"]?.string ?? "unknown",
        reason: content["reason"]?.string, problem: content["problem"],
        response: content["response"])
    }
  }

  // MARK: Reports

  /// Records Larder's 2xx to an item.
  func accept(_ item: Item, _ reply: JSONValue) throws {
    guard let mutation = reply["id"]?.string else {
      throw LarderError.unexpectedContent("The response to a mutation lacks \"id\".")
    }
    let earlier = try String.fetchOne(
      db, sql: "SELECT data FROM report WHERE profile = ? AND mutation = ?",
      arguments: [profile, mutation])
    try update(
      item.number, "state = 'enqueued', mutation = ?, report = ?",
      [mutation, earlier ?? reply.text])
    try forgetReports()
  }

  /// Applies reports of type `$mutation`.
  ///
  /// - Parameter accepted: the numbers of the items that Larder had when the sync began.
  func take(_ reports: [String: JSONValue], accepted: Set<Int>) throws {
    for (mutation, report) in reports {
      for (temporary, real) in report["temporaryIds"]?.object ?? [:] {
        try db.execute(
          sql: "INSERT OR REPLACE INTO temporary VALUES (?, ?, ?, ?)",
          arguments: [
            profile, temporary, real.string ?? real.text, Date().timeIntervalSinceReferenceDate,
          ])
      }
      try db.execute(
        sql: "UPDATE item SET report = ? WHERE profile = ? AND mutation = ?",
        arguments: [report.text, profile, mutation])
      if db.changesCount == 0 {
        try db.execute(
          sql: "INSERT OR REPLACE INTO report VALUES (?, ?, ?)",
          arguments: [profile, mutation, report.text])
      }
    }
    for item in try items() where accepted.contains(item.number) {
      // From now on Larder shows the update of a mutation by itself; it never shows queued writes.
      if !item.isWrite { try dropOverlay(of: item.number) }
      let state = item.report?["state"]?.string ?? "queued"
      if Self.ends.contains(state) {
        try end(item, state: state, from: item.report?.object ?? [:])
      } else {
        try update(item.number, "state = ?", [state == "parked" ? "parked" : "enqueued"])
      }
    }
    try forgetReports()
    // Larder translates temporary ids for 90 days.
    let oldest = Date().addingTimeInterval(-90 * 86_400).timeIntervalSinceReferenceDate
    try db.execute(
      sql: "DELETE FROM temporary WHERE profile = ? AND at < ?", arguments: [profile, oldest])
  }

  /// Forgets reports of unknown mutations, unless an item waits that can be one of them.
  private func forgetReports() throws {
    try db.execute(
      sql: """
        DELETE FROM report WHERE profile = ?1 AND NOT EXISTS (
          SELECT 1 FROM item WHERE profile = ?1 AND state = 'waiting' AND wasTried)
        """, arguments: [profile])
  }

  /// Changes what belongs to a device that is gone: cursors are void, and what may have been sent ends as
  /// `unknown`, since keys belong to a device.
  ///
  /// - Parameter untried: the number of an item that was sent for the first time, and refused with the
  ///   device.
  func loseDevice(untried: Int?) throws {
    for item in try items() where item.wasTried || item.state != .waiting {
      if item.number != untried { try end(item, state: "unknown") }
    }
    if let untried { try mark(untried, wasTried: false) }
    try db.execute(
      sql: "UPDATE following SET cursor = NULL WHERE profile = ?", arguments: [profile])
    try db.execute(
      sql: "UPDATE profile SET outcomeCursor = NULL, pushSentFor = NULL WHERE id = ?",
      arguments: [profile])
    try db.execute(sql: "DELETE FROM report WHERE profile = ?", arguments: [profile])
  }
}
