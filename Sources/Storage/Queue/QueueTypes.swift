import Model

/// Types of the store's own, whose rows only a device's queue writes.
package enum QueueTypes {
  /// What became of a mutation; `$` begins no GraphQL name.
  package static let outcome = "$mutation"

  /// The id, name and table of all other types: what operators are shown of tables.
  static let tablesOfOthers = """
    SELECT id, name, table_name FROM entity_type WHERE name <> '\(outcome)' ORDER BY name
    """

  static let all = [EntityType(name: outcome, keyFields: ["id"], columns: [])]
}
