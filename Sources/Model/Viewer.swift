/// The scopes one caller sees, narrowest first: the device over its user over the values of its
/// claims over its roles over what is public.
///
/// Field by field the first scope that holds a value wins, and a tombstone in a narrower scope
/// hides what lies under it.
package struct Viewer: Hashable, Sendable {
  package let layers: [Scope]

  /// - Parameter layers: narrowest first, without repetition, ending with the public one.
  package init(layers: [Scope]) {
    self.layers = layers
  }

  /// Somebody without credentials: the plain, indexed path of every read.
  package static let anonymous = Viewer(layers: [.public])

  package var isAnonymous: Bool { layers.count == 1 && layers[0] == .public }
}
