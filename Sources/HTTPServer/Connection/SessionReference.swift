/// A session as a member of a set: by identity.
struct SessionReference: Hashable {
  let session: ServerSession

  init(_ session: ServerSession) {
    self.session = session
  }

  static func == (left: SessionReference, right: SessionReference) -> Bool {
    left.session === right.session
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(session))
  }
}
