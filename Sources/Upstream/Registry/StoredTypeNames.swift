/// The names that the types of one upstream are stored under, which are their own unless settings
/// rename them (`upstreams.<name>.types.<Type>.as`).
package struct StoredTypeNames: Hashable, Sendable {
  /// By name in the upstream's schema.
  package let renamed: [String: String]

  package init(_ renamed: [String: String] = [:]) {
    self.renamed = renamed
  }

  package subscript(type: String) -> String { renamed[type] ?? type }
}
