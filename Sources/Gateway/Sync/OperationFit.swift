import LosslessJSON
package import Model
package import Storage
package import Upstream

/// Judges whether mutations that were queued under other operations fit those in force.
package struct OperationFit: Sendable {
  /// A mutation's operation and variables, as they can be sent.
  struct Fitting {
    let operation: RegisteredOperation
    let variables: Variables
  }

  /// Why a mutation cannot be sent as the operations are.
  package struct Misfit: Error {
    package let detail: String

    var problem: [UInt8] {
      MutationProblem(code: SettleReason.operationChanged.rawValue, detail: detail).bytes
    }
  }

  private let registry: OperationRegistry

  package init(registry: OperationRegistry) {
    self.registry = registry
  }

  /// - Parameters:
  ///   - variables: the JSON object as the client gave it.
  ///   - known: what its temporary ids stand for.
  func fitting(
    _ name: String, variables: String, known: [TemporaryID: EntityKey]
  ) throws(Misfit) -> Fitting {
    guard let operation = registry.operation(named: name) else {
      throw Misfit(detail: "The operation \(name) no longer exists.")
    }
    guard operation.kind == .mutation else {
      throw Misfit(detail: "The operation \(name) is no longer a mutation.")
    }
    do throws(VariableFaults) {
      let given = Self.substituting(known, in: variables)
      return Fitting(operation: operation, variables: try operation.coerce(.value(given)))
    } catch {
      let faults = error.all.map { fault in
        switch fault.place {
        case .pointer(let pointer): "\(pointer) \(fault.detail)"
        case .parameter(let name): "/\(name) \(fault.detail)"
        }
      }
      throw Misfit(
        detail: "The variables no longer fit the operation \(name): "
          + faults.joined(separator: "; ") + ".")
    }
  }

  /// The same for a mutation whose last attempt is in doubt: what it asks must be there too.
  package func check(
    _ held: HeldPayload, known: [TemporaryID: EntityKey] = [:]
  ) throws(Misfit) {
    _ = try fitting(held.operation, variables: held.variables, known: known)
    if held.step == .verify, let verifier = held.verifier { _ = try query(named: verifier) }
  }

  func query(named name: String) throws(Misfit) -> RegisteredOperation {
    guard let query = registry.operation(named: name), query.kind == .query else {
      throw Misfit(detail: "The query \(name), which verifies it, no longer exists.")
    }
    return query
  }

  /// The stored variables with real ids in the place of temporary ones.
  static func substituting(_ known: [TemporaryID: EntityKey], in variables: String) -> JSONValue {
    TemporaryID.substituting(
      known, in: (try? JSONValue(checked: variables)) ?? [:])
  }
}
