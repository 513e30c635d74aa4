import GRDB

extension Migrations {
  /// Has a delta read from the log's index alone: without these columns each of its rows was looked
  /// up once more, in a tree as deep as the whole log.
  static func changeIndex(_ db: Database) throws {
    try db.execute(
      sql: """
        DROP INDEX change_by_revision;
        CREATE INDEX change_by_revision ON change
          (scope, revision, type, key, created, kind, lifted);
        """)
  }
}
