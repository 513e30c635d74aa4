import GRDB
import Model

/// Reads mutations as their clients are told of them.
struct MutationReader {
  let database: Database

  func record(_ id: MutationID, of device: String) throws -> MutationRecord? {
    try MutationRows(database: database).full(id, of: device).map {
      try record($0.mutation, settled: $0.settled, result: $0.result)
    }
  }

  func records(
    of device: String, states: [MutationState]?, before: Int64?, limit: Int
  ) throws -> [MutationRecord] {
    try MutationRows(database: database)
      .list(of: device, states: states, before: before, limit: limit)
      .map { try record($0.mutation, settled: $0.settled, result: $0.result) }
  }

  private func record(
    _ mutation: Mutation, settled: Timestamp?, result: [UInt8]?
  ) throws -> MutationRecord {
    var result = result
    var sharedState: MutationState?
    var other = mutation.supersededBy
    while let id = other,
      let found = try MutationRows(database: database).full(id, of: mutation.device)
    {
      sharedState = found.mutation.state
      result = found.result
      other = found.mutation.supersededBy
    }
    return MutationRecord(
      mutation: mutation, settled: settled, result: result, sharedState: sharedState,
      resolved: try TemporaryIDRows(database: database, device: mutation.device)
        .find(mutation.footprint.creates.map(\.id)))
  }
}
