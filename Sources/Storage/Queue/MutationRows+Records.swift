import Model

/// Reads mutations in the form that their clients see.
extension MutationRows {
  func record(_ id: MutationID, of device: String) throws -> MutationRecord? {
    try row(id, of: device).map(completed)
  }

  /// Lists mutations.
  ///
  /// - Parameter states: nil for all.
  /// - Returns: the newest first, those with a lower sequence than `before`.
  func records(
    of device: String, states: [MutationState]?, before: Int64?, limit: Int
  ) throws -> [MutationRecord] {
    let wanted = states.map { states in
      " AND state IN (" + states.map { "'\($0.rawValue)'" }.joined(separator: ", ") + ")"
    }
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns), settled, result FROM mutation WHERE sequence IN (\
      SELECT sequence FROM mutation WHERE device = ?1 AND is_held AND sequence < ?2\(wanted ?? "") \
      UNION ALL SELECT sequence FROM (SELECT sequence FROM mutation \
      WHERE device = ?1 AND NOT is_held AND sequence < ?2\(wanted ?? "") \
      ORDER BY sequence DESC LIMIT ?3)) ORDER BY sequence DESC LIMIT ?3
      """)
    statement.bind(device, at: 1)
    statement.bind(before ?? .max, at: 2)
    statement.bind(Int64(limit), at: 3)
    var found: [MutationRecord] = []
    do {
      defer { statement.reset() }
      while try statement.step() { found.append(try Self.record(statement)) }
    }
    return try found.map(completed)
  }

  private func row(_ id: MutationID, of device: String) throws -> MutationRecord? {
    let statement = try PreparedStatement(
      database,
      "SELECT \(Self.columns), settled, result FROM mutation WHERE id = ?1 AND device = ?2")
    statement.bind(id.value, at: 1)
    statement.bind(device, at: 2)
    defer { statement.reset() }
    return try statement.step() ? try Self.record(statement) : nil
  }

  private static func record(_ row: PreparedStatement) throws -> MutationRecord {
    MutationRecord(
      mutation: try mutation(row),
      settled: row.optionalInt64(32).map(Timestamp.init(milliseconds:)), result: row.bytes(33))
  }

  /// Adds the outcome of the mutation that superseded it, and the entities that it created.
  private func completed(_ row: MutationRecord) throws -> MutationRecord {
    var record = row
    let mutation = row.mutation
    var other = mutation.supersededBy
    while let id = other, let found = try self.row(id, of: mutation.device) {
      record.sharedState = found.mutation.state
      record.result = found.result
      other = found.mutation.supersededBy
    }
    record.resolved = try TemporaryIDRows(database: database, device: mutation.device)
      .find(mutation.footprint.creates.map(\.id))
    return record
  }
}
