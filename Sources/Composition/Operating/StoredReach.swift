import Model
import Upstream

/// Who can read what is stored of each entity type, as the operations that select it say.
struct StoredReach {
  private let registry: OperationRegistry
  private let hasServiceCredentials: Bool
  private let forwardsCredentials: Bool
  /// A verified user's request may go upstream without a credential of theirs, and is then the
  /// service's like any other.
  private let usersMayComeWithout: Bool

  init(_ workspace: Workspace) {
    registry = workspace.registry
    hasServiceCredentials = workspace.settings.upstream.hasServiceCredentials
    let names = workspace.settings.upstream.forward.map { $0.lowercased() }
    usersMayComeWithout =
      !names.contains("authorization")
      || workspace.settings.accounts.provider == .local
        && !workspace.settings.upstream.forwardsOwnTokens
    forwardsCredentials = workspace.settings.upstream.forward.contains {
      ForwardedHeaders.credentials.contains($0.lowercased())
    }
  }

  /// Empty where no operation selects an entity.
  var section: [String] {
    var readers: [String: Set<Reader>] = [:]
    for operation in registry.operations {
      for type in operation.entityTypes {
        readers[type, default: []].formUnion(self.readers(of: operation))
      }
    }
    guard !readers.isEmpty else { return [] }
    let lines = readers.sorted { $0.key < $1.key }.map { type, readers in
      "  \(type): \(readers.sorted().map(text).joined(separator: "; "))"
    }
    return ["Stored entities can be read by:\n" + lines.joined(separator: "\n")]
  }

  /// From the widest to the narrowest.
  private enum Reader: Hashable, Comparable {
    case everybody
    case role(String)
    case claim(String)
    case each
  }

  private func readers(of operation: RegisteredOperation) -> [Reader] {
    if let claim = operation.claim { return [.claim(claim)] }
    let shared = operation.access.role?.demanded.map { Reader.role($0.rawValue.lowercased()) }
    guard operation.sendsCallersCredential, forwardsCredentials else {
      return [shared ?? .everybody]
    }
    // Without a credential the call is the service's, where it is let through at all.
    switch operation.access.role?.demanded {
    case .device, .admin: return [.each] + [shared ?? .everybody]
    case .user: return [.each] + (usersMayComeWithout ? [shared ?? .everybody] : [])
    case nil:
      return operation.access.isOpen || usersMayComeWithout ? [.each, .everybody] : [.each]
    }
  }

  private func text(_ reader: Reader) -> String {
    switch reader {
    case .everybody: hasServiceCredentials ? "users verified here, the operator" : "anyone"
    case .role(let role): "role \(role)"
    case .claim(let name): "verified users with the same \(name)"
    case .each: "each caller, what was fetched with their own credential"
    }
  }
}
