import Model

/// The access rule for local types: entities belong to one device or one user, and no other caller
/// reads or writes them, not even the operator.
enum OwnDataGate {
  /// Throws if the caller cannot own entities of the type.
  static func admit(_ caller: Caller, to type: LocalType) throws(Failure) {
    switch type.scope {
    case .device where caller.device == nil:
      throw Failure(
        .unauthenticated, "\(type.name) belongs to a device: send its token in Device-Token.")
    case .user where caller.user == nil:
      throw Failure(.signInRequired, "\(type.name) belongs to a user: sign in.")
    case .device, .user, .public, .role, .claim:
      return
    }
  }
}
