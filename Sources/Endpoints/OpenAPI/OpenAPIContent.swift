import Cryptography
import Gateway
import LosslessJSON
import Model
import Synchronization

/// The bytes of `/openapi.json` and of `/openapi.json?full`, each made at the first request for it.
///
/// Reading the template takes about 10 ms, too long for every start and for an event loop: a detached
/// task, which does not run on the request's loop, makes the bytes once for all requests.
final class OpenAPIContent: Sendable {
  /// A document as it is served.
  struct Rendered: Sendable {
    let bytes: [UInt8]
    /// The opaque part of its entity tag.
    let tag: String

    init(_ document: JSONValue) {
      bytes = document.bytes
      tag = Base64URL.encode(SHA256.hash(data: bytes).prefix(16))
    }
  }

  private let make: @Sendable (_ isFull: Bool) throws -> JSONValue
  private let tasks = Mutex<[Bool: Task<Rendered, any Error>]>([:])

  init(
    operations: [OperationDescription], version: String,
    source: @escaping @Sendable () throws -> OpenAPISource
  ) {
    make = { isFull in
      let source = try source()
      return OpenAPIDocument(
        template: source.template, operations: operations, version: version, local: source.local,
        schemas: source.schemas, isFull: isFull
      ).value()
    }
  }

  /// - Parameter isFull: whether all paths of operations are listed.
  func document(isFull: Bool) async throws(Failure) -> Rendered {
    let making = tasks.withLock { tasks in
      if let task = tasks[isFull] { return task }
      let begun = Task.detached { [make] in Rendered(try make(isFull)) }
      tasks[isFull] = begun
      return begun
    }
    do {
      return try await making.value
    } catch {
      throw Failure(.internal, "The OpenAPI document cannot be read.", cause: "\(error)")
    }
  }
}
