import GRDB
import LosslessJSON
package import Model

/// The state of one stored result, for `explain` rather than for serving.
package struct ResultExplanation: Sendable, Hashable {
  /// A reason to refetch the result before it is served.
  package enum Due: Sendable, Hashable {
    /// The last response had errors.
    case errors
    /// An invalidation or a purge after the call of the response began.
    case target(InvalidationTarget, call: CallNumber)
    /// The first page of a list changed, and this result holds a later page of it.
    case firstPage(family: String, call: CallNumber)
  }

  package let key: ResultKey
  package let call: CallNumber
  package let received: Timestamp
  package let bytes: Int
  package let types: [String]
  package let tags: [String]
  package let due: [Due]
}

/// Explains why a result is due: the invalidations it depends on.
struct ResultExplainer {
  let database: Database
  let directory: ScopeDirectory

  func explain(_ key: ResultKey) throws -> ResultExplanation? {
    guard let row = try ResultRow.find(key, database, directory) else { return nil }
    let dependencies = try Row.fetchAll(
      database, sql: "SELECT kind, name FROM dependency WHERE result = ? ORDER BY kind, name",
      arguments: [row.id])
    func names(_ kind: DependencyKind) -> [String] {
      dependencies.filter { $0["kind"] == kind.rawValue }.map { $0["name"] }
    }
    var due: [ResultExplanation.Due] = row.errors == nil ? [] : [.errors]
    due += try invalidations(of: row, key)
    return ResultExplanation(
      key: key, call: CallNumber(row.call), received: row.received, bytes: row.fields.count,
      types: names(.type), tags: names(.tag), due: due)
  }

  private func invalidations(
    of row: ResultRow, _ key: ResultKey
  ) throws -> [ResultExplanation.Due] {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT kind, name, max(call) AS call FROM invalidation \
        WHERE scope IN (?1, ?2, ?7) AND call > ?3 AND ((kind = ?4 AND name = ?5) \
        OR (kind, name) IN (SELECT kind, name FROM dependency WHERE result = ?6)) \
        GROUP BY kind, name ORDER BY kind, name
        """,
      arguments: [
        row.scope, ScopeTable.everyID, row.call, DependencyKind.operation.rawValue,
        key.operation, row.id, key.scope.kind.isShared ? ScopeTable.sharedID : row.scope,
      ])
    return rows.compactMap { found in
      let name: String = found["name"]
      let call = CallNumber(found["call"])
      return switch DependencyKind(rawValue: found["kind"]) {
      case .type: .target(.type(name), call: call)
      case .tag: .target(.tag(name), call: call)
      case .operation: .target(.operation(name), call: call)
      case .laterPage: .firstPage(family: name, call: call)
      case .entity, nil: nil
      }
    }
  }
}
