/// The result part of a ``NormalisedResponse``: the roots of one query, and what it depends on
/// beside the entities its references lead to.
package struct ResultWrite: Sendable {
  /// A page of a paginated list, found anywhere in the answer.
  package struct PageList: Hashable, Sendable {
    /// The entity that owns the list; nil for the query root.
    package let owner: EntityKey?
    package let page: SelectedField.Page
    /// Digest of the page's stored bytes: a first page whose digest changed makes the results
    /// that hold later pages of the same family due.
    package let digest: UInt64

    package init(owner: EntityKey?, page: SelectedField.Page, digest: UInt64) {
      self.owner = owner
      self.page = page
      self.digest = digest
    }
  }

  package let key: ResultKey
  /// The root fields, by storage name, as ranges of the answer's bytes. A field whose value is
  /// unknown because of an error is absent, or partial; an older value under the same result stays.
  package let root: [NormalisedResponse.Field]
  /// Types of which the answer holds an entity or a (possibly empty) list.
  package let types: [String]
  package let pages: [PageList]
  /// Tags of the operation, for invalidation by tag.
  package let tags: [String]
  /// Upstream's `errors` as JSON text; nil without errors. A result with errors is due at once.
  package let errors: [UInt8]?

  package init(
    key: ResultKey,
    root: [NormalisedResponse.Field],
    types: [String],
    pages: [PageList] = [],
    tags: [String] = [],
    errors: [UInt8]? = nil
  ) {
    self.key = key
    self.root = root
    self.types = types
    self.pages = pages
    self.tags = tags
    self.errors = errors
  }
}
