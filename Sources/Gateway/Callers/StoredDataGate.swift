package import Model

/// Who may read the store itself: entities, search and changes, whichever operation brought them.
///
/// What was got with the service's own credentials is stored as public, since no caller's were
/// used, but upstream never said that everybody may see it. Then only those whom this service
/// itself knows may read it. An opaque token does not count: upstream judges it when it is sent
/// there, and here nothing is sent.
package struct StoredDataGate: Sendable {
  private let hasServiceCredentials: Bool
  private let ownTypes: Set<String>

  /// - Parameter ownTypes: types that live here alone: their entities were got with nobody's
  ///   credentials.
  package init(hasServiceCredentials: Bool, ownTypes: Set<String> = []) {
    self.hasServiceCredentials = hasServiceCredentials
    self.ownTypes = ownTypes
  }

  /// - Parameter types: what is asked for; nil for everything. A device that asks for its own data
  ///   alone is admitted: nobody else's is in its sight.
  package func admit(_ caller: Caller, types: Set<String>?) throws(Failure) {
    if caller.device != nil, let types, types.isSubset(of: ownTypes) { return }
    try admit(caller)
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
