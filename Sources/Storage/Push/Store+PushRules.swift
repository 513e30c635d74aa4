import GRDB
package import Model

/// The change log as push rules read it, and their notifications: a crash between reading and writing
/// neither loses a change nor notifies twice.
extension Store {
  /// Returns where rules continue reading. From now on the history of entities of their types is recorded,
  /// so that each commit can be reported, however many happen before the next read.
  ///
  /// - Parameter rules: the names of all rules; the state of others is removed.
  package func ruleCursor(
    of rules: Set<String>, types: Set<String>
  ) async throws(StorageError) -> Revision {
    try await keepHistory(ofTypes: types)
    return try await writer.write { database, memory in
      let table = RuleTable(database: database)
      try table.forget(allBut: rules)
      let head = Revision(memory.counters.revision)
      return rules.isEmpty ? head : try table.cursor(beginning: head)
    }
  }

  /// Returns a page of changes. It is limited by rows read, so it can be empty without being the last.
  package func ruleChanges(_ query: RuleQuery) async throws(StorageError) -> RuleChanges {
    let catalogue = catalogue
    return try await longReader.read { database in
      try RuleLog(database: database, catalogue: catalogue).page(query)
    }
  }

  /// Records the contents that rules computed from a page, and enqueues their notifications.
  ///
  /// - Parameters:
  ///   - places: the rows of the page; they are not read again up to here, even if the cursor stays before
  ///     them.
  ///   - cursor: the revision after which reading continues; nil while there are more pages.
  /// - Returns: the number of notifications enqueued.
  package func record(
    _ notifications: [RuleNotification], read places: [RulePlace] = [], cursor: Revision?
  ) async throws(StorageError) -> Int {
    try await writer.write { database, _ in
      let table = RuleTable(database: database)
      var count = 0
      for notification in notifications where try table.record(notification) { count += 1 }
      if let cursor { try table.setCursor(cursor) }
      for place in places where place.revision > cursor?.value ?? 0 { try table.note(read: place) }
      return count
    }
  }
}
