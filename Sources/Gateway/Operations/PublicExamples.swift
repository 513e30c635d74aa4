package import LosslessJSON
import Model
import Upstream

/// Examples for the OpenAPI document, which every caller can read.
///
/// Each is what a caller without any credential would get at this moment from the same route, without
/// variables: nothing of a user, a device, a role or a claim, and nothing that only a caller who knows an
/// id or a word would find. Of what such a caller gets, only operations with `scope: PUBLIC` that are open
/// to all are shown, and entities of types that no other query selects. Nothing is fetched for them.
package struct PublicExamples: Sendable {
  /// What was found in the store.
  package struct Found: Equatable, Sendable {
    /// The response bodies, by operation.
    package var responses: [String: JSONValue] = [:]
    /// By type.
    package var entities: [String: JSONValue] = [:]

    package init(responses: [String: JSONValue] = [:], entities: [String: JSONValue] = [:]) {
      self.responses = responses
      self.entities = entities
    }
  }

  /// The maximum size of one example, and of all of them, in bytes of JSON.
  static let bytesMax = 2_048
  static let totalBytesMax = 256 << 10
  /// The maximum number of operations, and of types, that are read for examples.
  static let countMax = 200
  /// Larger responses are not read for an example.
  private static let responseBytesMax = 1 << 20
  /// The numbers of elements that lists are cut to, until the example is small enough.
  private static let listLengths = [2, 1]
  /// Members of an entity that say nothing of its type, or change with each write.
  private static let ownMembers: Set<String> = ["_rev", "_pending"]

  private let operations: OperationService
  private let entities: EntityReader
  private let callers: CallerIdentifier

  package init(operations: OperationService, entities: EntityReader, callers: CallerIdentifier) {
    self.operations = operations
    self.entities = entities
    self.callers = callers
  }

  package func found() async -> Found {
    var found = Found()
    guard let anonymous = try? await callers.caller(header: { _ in nil }) else { return found }
    var bytesLeft = Self.totalBytesMax
    let open = operations.directory.operations.filter { Self.isPublic($0.registered) }
    for operation in open.prefix(Self.countMax) where !operation.hasRequiredVariable {
      guard let example = await response(of: operation, to: anonymous), bytesLeft > 0 else {
        continue
      }
      bytesLeft -= example.bytes.count
      found.responses[operation.name] = example
    }
    for type in Self.publicTypes(operations.directory).prefix(Self.countMax) {
      guard let example = await entity(ofType: type, to: anonymous), bytesLeft > 0 else { continue }
      bytesLeft -= example.bytes.count
      found.entities[type] = example
    }
    return found
  }

  private static func isPublic(_ operation: RegisteredOperation) -> Bool {
    let role = operation.access.role
    return operation.kind == .query && !operation.sendsCallersCredential
      && operation.access.isOpen && (role == nil || role == .public)
  }

  /// The types that queries and subscriptions select, all of which are public, in alphabetical order.
  static func publicTypes(_ directory: OperationDirectory) -> [String] {
    var (open, others): (Set<String>, Set<String>) = ([], [])
    for operation in directory.operations.map(\.registered) where operation.kind != .mutation {
      if isPublic(operation) {
        open.formUnion(operation.entityTypes)
      } else {
        others.formUnion(operation.entityTypes)
      }
    }
    return open.subtracting(others).sorted()
  }

  private func response(of operation: ServedOperation, to caller: Caller) async -> JSONValue? {
    let directives = ReadDirectives(onlyIfCached: true, maxStale: .any)
    guard
      let read = try? await operations.read(
        operation, input: .parameters(path: [], query: []),
        context: OperationService.Context(caller: caller, directives: directives))
    else { return nil }
    let rendered = read.rendered
    guard !rendered.hasErrors, rendered.key.scope == .public,
      rendered.body.count <= Self.responseBytesMax,
      let body = try? JSONValue(checked: rendered.body)
    else { return nil }
    return Self.cut(body)
  }

  private func entity(ofType type: String, to caller: Caller) async -> JSONValue? {
    guard
      let response = try? await entities.collection(
        of: type, parameters: [CollectionRequest.Parameter("limit", "1")], wantsTotal: false,
        caller: caller),
      let body = try? JSONValue(checked: response.body),
      let members = body["items"]?.array?.first?.members
    else { return nil }
    return Self.cut(.object(members.filter { !Self.ownMembers.contains($0.name) }))
  }

  /// Returns the value with its lists cut; nil if it is larger than ``bytesMax`` even so.
  static func cut(_ value: JSONValue) -> JSONValue? {
    for length in listLengths {
      let shorter = cut(value, to: length)
      if shorter.bytes.count <= bytesMax { return shorter }
    }
    return nil
  }

  private static func cut(_ value: JSONValue, to length: Int) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.prefix(length).map { cut($0, to: length) })
    case .object(let members):
      .object(members.map { JSONMember($0.name, cut($0.value, to: length)) })
    default: value
    }
  }
}

extension ServedOperation {
  fileprivate var hasRequiredVariable: Bool { description.variables.contains(where: \.isRequired) }
}
