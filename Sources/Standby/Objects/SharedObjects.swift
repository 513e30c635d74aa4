/// Why a call to what the two machines share has failed, by what the caller does next.
package enum StandbyError: Error, Hashable, Sendable {
  /// The store did not respond: the call can be repeated. It may have had its effect.
  case unavailable(String)
  /// Repetition does not help: a missing right, a store without conditional writes, a damaged object.
  case faulty(String)
}

extension StandbyError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unavailable(let reason), .faulty(let reason): reason
    }
  }
}

/// What the two machines of a warm standby share: objects by name, in a folder or in a bucket.
///
/// There are two kinds. A *fixed* object is made once and never changes. A *register* is replaced by a writer that
/// names the state it has seen. The store decides both for all writers, without clocks; everything else is built
/// on that.
package protocol SharedObjects: Sendable {
  /// Where they are, for messages.
  var place: String { get }

  /// Returns a fixed object; nil if there is none.
  func read(_ name: String) async throws(StandbyError) -> [UInt8]?

  /// Makes a fixed object, unless there is one.
  ///
  /// - Returns: whether it was made. An object that is there can be from an earlier attempt of the same caller,
  ///   whose response was lost: compare it.
  func make(_ name: String, _ bytes: [UInt8]) async throws(StandbyError) -> Bool

  /// Removes a fixed object, if there is one.
  func remove(_ name: String) async throws(StandbyError)

  /// Returns the state of a register; nil before the first.
  func register(_ name: String) async throws(StandbyError) -> RegisterState?

  /// Replaces the state of a register.
  ///
  /// - Parameter version: of the state that the caller has seen; nil if it has seen none.
  /// - Returns: the version of the new state; nil if the register has another version than that by now, which can
  ///   be from an earlier attempt of the same caller: compare it.
  func replace(
    _ name: String, with bytes: [UInt8], after version: String?
  ) async throws(StandbyError) -> String?
}

/// The bytes of a register, and the name of this state of it.
package struct RegisterState: Hashable, Sendable {
  package let bytes: [UInt8]
  package let version: String

  package init(bytes: [UInt8], version: String) {
    self.bytes = bytes
    self.version = version
  }
}
