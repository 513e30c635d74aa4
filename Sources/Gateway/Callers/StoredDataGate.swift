package import Model

/// Who may read the store itself: entities, search and changes, whichever operation brought them.
///
/// What was got with the service's own credentials is stored as public, since no caller's were
/// used, but upstream never said that everybody may see it. Then only those whom this service
/// itself knows may read it. An opaque token does not count: upstream judges it when it is sent
/// there, and here nothing is sent.
package struct StoredDataGate: Sendable {
  private let hasServiceCredentials: Bool

  package init(hasServiceCredentials: Bool) {
    self.hasServiceCredentials = hasServiceCredentials
  }

  package func admit(_ caller: Caller) throws(Failure) {
    guard !hasServiceCredentials || caller.isAdmin || caller.user != nil else {
      throw Failure(
        .unauthenticated,
        "What is stored was got with the service's own credentials: it takes the admin token, or "
          + "a user's token that is verified here.")
    }
  }
}
