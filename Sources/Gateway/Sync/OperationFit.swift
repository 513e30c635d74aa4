import Logging
import LosslessJSON
package import Model
package import Storage
package import Upstream

/// Checks whether mutations that were queued with earlier operations still fit the current ones.
package struct OperationFit: Sendable {
  /// A mutation's operation and variables, ready to send.
  struct Fitting {
    let operation: RegisteredOperation
    let variables: Variables
  }

  /// The reason that a mutation cannot be sent with the current operations.
  package struct Misfit: Error {
    package let detail: String

    var problem: [UInt8] {
      MutationRecord.problem(code: SettleReason.operationChanged.rawValue, detail: detail)
    }
  }

  private let registry: OperationRegistry

  package init(registry: OperationRegistry) {
    self.registry = registry
  }

  /// Returns the current operation with coerced variables, or throws if they do not fit.
  ///
  /// - Parameters:
  ///   - variables: the JSON object as the client gave it.
  ///   - known: the entities that its temporary ids stand for.
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

  /// Throws if a held mutation does not fit. If its last attempt is in doubt, the query that verifies
  /// it must exist too.
  package func check(
    _ held: HeldPayload, known: [TemporaryID: EntityKey] = [:]
  ) throws(Misfit) {
    // Lists of local writes fit the local types or are rejected when they are applied.
    if held.operation == Mutation.writeOperation { return }
    _ = try fitting(held.operation, variables: held.variables, known: known)
    if held.step == .verify, let verifier = held.verifier { _ = try query(named: verifier) }
  }

  /// The name of the upstream that runs a mutation; nil for an unknown operation.
  func upstream(of operation: String) -> String? {
    registry.operation(named: operation)?.upstream.text
  }

  /// The names of all upstreams that run operations.
  var upstreams: Set<String> { Set(registry.operations.map(\.upstream.text)) }

  /// Returns the query that verifies a mutation.
  func query(named name: String) throws(Misfit) -> RegisteredOperation {
    guard let query = registry.operation(named: name), query.kind == .query else {
      throw Misfit(detail: "The query \(name), which verifies it, no longer exists.")
    }
    return query
  }

  /// Returns the stored variables with temporary ids replaced by real ones.
  static func substituting(_ known: [TemporaryID: EntityKey], in variables: String) -> JSONValue {
    TemporaryID.substituting(
      known, in: (try? JSONValue(checked: variables)) ?? [:])
  }
}

/// A survey of held mutations: how many do not fit the current operations, and which fit again.
package struct OperationSurvey: Sendable {
  /// Mutations of one operation that cannot be sent.
  package struct Misfits: Sendable {
    package let operation: String
    package internal(set) var count: Int
    /// The problem of the first of them.
    package let detail: String
  }

  private var misfitsByOperation: [String: Misfits] = [:]
  private var resumed: [String: Int] = [:]
  /// What changes in the device's queue.
  var review = OperationReview()

  package init() {}

  /// The misfits by operation, in alphabetical order.
  package var misfits: [Misfits] {
    misfitsByOperation.values.sorted { $0.operation < $1.operation }
  }

  /// Notes a held mutation.
  package mutating func note(
    _ held: HeldPayload, fit: OperationFit, known: [TemporaryID: EntityKey] = [:]
  ) {
    if let upstream = fit.upstream(of: held.operation), upstream != held.upstream {
      review.moved[held.id] = upstream
    }
    guard !held.isIdle else { return }
    do throws(OperationFit.Misfit) {
      try fit.check(held, known: known)
      guard held.isParked else { return }
      resumed[held.operation, default: 0] += 1
      review.fitting.append(held.id)
    } catch {
      misfitsByOperation[
        held.operation,
        default: Misfits(operation: held.operation, count: 0, detail: error.detail)
      ].count += 1
      if !held.isParked { review.misfits[held.id] = error.problem }
    }
  }

  /// Adds the counts of another device's survey, but not its ``review``.
  mutating func add(_ other: OperationSurvey) {
    for misfits in other.misfits {
      misfitsByOperation[
        misfits.operation,
        default: Misfits(operation: misfits.operation, count: 0, detail: misfits.detail)
      ].count += misfits.count
    }
    resumed.merge(other.resumed, uniquingKeysWith: +)
  }

  /// Logs one line per start for parked mutations, and one for resumed ones.
  func report(to logger: Logger) {
    if !misfits.isEmpty {
      logger.warning(
        "queued mutations are parked: their operations no longer exist or accept their variables",
        metadata: [
          "count": "\(misfits.reduce(0) { $0 + $1.count })",
          "operations": "\(Self.text(misfits.map { ($0.operation, $0.count) }))",
          "example": "\(misfits.first?.detail ?? "")",
          "remedy": "deploy operations that fit, or discard the mutations",
        ])
    }
    if !resumed.isEmpty {
      logger.notice(
        "parked mutations resumed: their operations exist again",
        metadata: [
          "operations":
            "\(Self.text(resumed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))"
        ])
    }
  }

  private static func text(_ counts: [(operation: String, count: Int)]) -> String {
    counts.map { "\($0.operation)=\($0.count)" }.joined(separator: ", ")
  }
}
