package import Cryptography
package import Model

/// A webhook by which upstream reports changes: `POST /v1/hooks/{name}`.
package struct Hook: Sendable {
  package enum Format: Sendable {
    /// Signed after the Standard Webhooks specification, with any of the keys.
    case plain(keys: [SymmetricKey])
    /// Hasura's event triggers, with any of the secrets in a header field.
    ///
    /// - Parameter tables: by name; of the schema `public` unless the name has another one before it.
    case hasura(secrets: [String], tables: [String: HookTable])
  }

  package let name: String
  package let format: Format

  package init(name: String, format: Format) {
    self.name = name
    self.format = format
  }
}

/// The entities that the rows of a table are.
package struct HookTable: Sendable {
  /// The schema that tables are in if the settings name none.
  package static let defaultSchema = "public"

  package let type: String
  /// The fields that hold a column's value. A column that is not listed has the field of its own
  /// name, if there is one; an empty list leaves the column out.
  package let columns: [String: [String]]
  /// Becomes due when rows are added or removed.
  package let invalidations: [InvalidationTarget]

  package init(
    type: String, columns: [String: [String]] = [:], invalidations: [InvalidationTarget] = []
  ) {
    self.type = type
    self.columns = columns
    self.invalidations = invalidations
  }
}
