/// What went with a clean-up.
package struct TableCleanup: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package let type: String
    package let field: String

    package init(type: String, field: String) {
      self.type = type
      self.field = field
    }
  }

  /// Types whose table went.
  package var types: [String] = []
  package var columns: [Column] = []

  package init() {}
}
