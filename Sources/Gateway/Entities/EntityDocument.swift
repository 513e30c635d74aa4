package import Model

/// An entity as JSON for one viewer: the body of an entity read, an element of a collection, the
/// `data` of a change.
package struct EntityDocument: Sendable {
  package let key: EntityKey
  /// One flat JSON object, compact.
  package let body: [UInt8]
  /// The value of `_rev`: a digest of the whole entity. The same content, as this viewer sees it, has
  /// the same revision, through every view, on every node and after every restart.
  package let revision: String
  /// Fields that a view asks for and that are not stored; nil without a view.
  package let missing: [String]?

  /// The opaque part of the entity tag of a read that has this body.
  package var tag: String { EntityDigest.tag(of: body) }
}
