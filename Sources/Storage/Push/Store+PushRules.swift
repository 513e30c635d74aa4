import GRDB
package import Model

/// What rules read of the change log, and what they make of it: a crash in between neither loses a
/// change nor tells it twice.
extension Store {
  /// Where rules go on reading. From here on what entities of their types were is kept as they
  /// change, so that each commit can be told of however many come before the next look.
  ///
  /// - Parameter rules: the names of all there are; what others said last is forgotten.
  package func ruleCursor(
    of rules: Set<String>, types: Set<String>
  ) async throws(StorageError) -> Revision {
    try await keepPast(ofTypes: types)
    return try await writer.write { database, memory in
      let table = RuleTable(database: database)
      try table.forget(allBut: rules)
      let head = Revision(memory.counters.revision)
      return rules.isEmpty ? head : try table.cursor(beginning: head)
    }
  }

  /// Bounded in rows, so a page may be empty and not the last.
  package func ruleChanges(_ query: RuleQuery) async throws(StorageError) -> RuleChanges {
    let catalogue = catalogue
    return try await longReader.read { database in
      try RuleLog(database: database, catalogue: catalogue).page(query)
    }
  }

  /// Writes what rules made of a page, with the notifications.
  ///
  /// - Parameters:
  ///   - places: the rows that the page was made of. What they were up to here is not read again, even
  ///     where the cursor stays before it.
  ///   - cursor: behind which reading goes on; nil while there are more pages.
  /// - Returns: how many notifications were taken.
  package func tell(
    _ tellings: [RuleNotification], read places: [RulePlace] = [], cursor: Revision?
  ) async throws(StorageError) -> Int {
    try await writer.write { database, _ in
      let table = RuleTable(database: database)
      var count = 0
      for telling in tellings where try table.tell(telling) { count += 1 }
      if let cursor { try table.setCursor(cursor) }
      for place in places where place.revision > cursor?.value ?? 0 { try table.note(read: place) }
      return count
    }
  }
}
