import Model

/// Who has entities of a type that lives here alone: the one device, or the one user, they belong
/// to. Nobody else reads or writes them, the operator included.
enum OwnDataGate {
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
