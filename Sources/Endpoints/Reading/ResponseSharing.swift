import Gateway
import HTTPWire
import Model

/// Which callers may share a read's response in caches (RFC 9111).
///
/// With the setting `cdn`, a response of an operation with `scope: PUBLIC` has two forms. Caches keep the shared
/// one for all callers, so nothing in it may be of one caller: it has no cursor, and `Vary` names no credential.
/// A device gets its own form, which no shared cache keeps. The forms have different tags: otherwise a 304 to a
/// device would validate the shared form in a cache, and replace its fields by the device's (section 4.3.4).
enum ResponseSharing: Hashable, Sendable {
  /// Without the setting, and for operations of other scopes: `Vary` names the credentials, and responses to
  /// callers with one are private.
  case byCredential
  /// The form that caches keep for all callers.
  case shared
  /// The form for one caller beside the shared one.
  case own

  private static let ownSuffix = "-own"

  init(of rendered: RenderedResponse, to caller: Caller, isBehindCDN: Bool) {
    // An operation of another scope has public responses to callers without credentials, too.
    guard isBehindCDN, rendered.policy.sharing == .public, rendered.key.scope.kind == .public else {
      self = .byCredential
      return
    }
    self = caller.device == nil && !caller.hasSecretPartition ? .shared : .own
  }

  /// The tag of the representation without a content coding.
  func tag(of rendered: RenderedResponse) -> EntityTag {
    EntityTag(self == .own ? rendered.tag + Self.ownSuffix : rendered.tag)
  }

  /// The tag of the rendered response that a client's tag belongs to.
  ///
  /// - Parameter opaque: the content of a tag, without the suffix of a content coding.
  static func renderedTag(_ opaque: String) -> String {
    opaque.hasSuffix(ownSuffix) ? String(opaque.dropLast(ownSuffix.count)) : opaque
  }
}
