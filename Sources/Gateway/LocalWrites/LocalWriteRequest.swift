package import LosslessJSON
package import Model

/// One write as a client asks for it, nothing of it checked.
package struct LocalWriteRequest: Sendable {
  package enum Match: Hashable, Sendable {
    /// `If-Match: *`: there must be one.
    case any
    /// One of these values of `_rev`.
    case revisions([String])
  }

  package var action: LocalOperation.Action
  package var type: String
  /// Nil where the body gives it, or the service makes it.
  package var id: String?
  package var body: JSONValue
  package var match: Match?
  /// Where it stands in the request's body, as a JSON pointer.
  package var pointer: String

  package init(
    _ action: LocalOperation.Action, type: String, id: String? = nil, body: JSONValue = [:],
    match: Match? = nil, pointer: String = ""
  ) {
    self.action = action
    self.type = type
    self.id = id
    self.body = body
    self.match = match
    self.pointer = pointer
  }
}
