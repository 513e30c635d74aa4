/// Who may see a stored row, a result, a rendered answer or a shared upstream call.
///
/// A scope is a value of its own and is never parsed out of a string: storage keeps one row for
/// each scope and refers to it by number. Reads by a caller see the layers of a ``Viewer``.
package struct Scope: Hashable, Sendable {
  package enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// Obtained without any caller's credential: everybody may see it.
    case `public` = 0
    /// Obtained with one user's credential, or written by a signed-in user.
    case user = 1
    /// Written by or for one device.
    case device = 2
  }

  package let kind: Kind
  /// The user's subject or the device's id; empty for ``Kind/public``.
  package let subject: String
  /// The forwarded headers that split the cache without being credentials, as canonical text
  /// (`name:value` lines, names in lower case and sorted); empty when there are none.
  package let partition: String

  package init(kind: Kind, subject: String, partition: String = "") {
    self.kind = kind
    self.subject = subject
    self.partition = partition
  }

  package static let `public` = Scope(kind: .public, subject: "")

  package static func user(_ subject: String, partition: String = "") -> Scope {
    Scope(kind: .user, subject: subject, partition: partition)
  }

  package static func device(_ id: String, partition: String = "") -> Scope {
    Scope(kind: .device, subject: id, partition: partition)
  }

  /// What a device wrote of its own accord: the same whatever headers come along, since they part
  /// what upstream says and this is nothing of upstream's.
  package static func ownData(ofDevice id: String) -> Scope { .device(id) }

  /// What a verified user wrote of its own accord. Apart from what upstream told that user, which
  /// another set of forwarded headers must not see.
  package static func ownData(ofUser subject: String) -> Scope {
    .user(subject, partition: ownPartition)
  }

  /// No headers' text: each line of one holds a colon.
  private static let ownPartition = "own"
}
