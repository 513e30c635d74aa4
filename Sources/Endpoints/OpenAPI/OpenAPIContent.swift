import Cryptography
import Gateway
import LosslessJSON
import Model
import Synchronization

/// The bytes of `/openapi.json` and of `/openapi.json?full`, each made at the first request for it, and again
/// when the examples in it can have changed.
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

  /// How long a document is served before its examples are read again. Without a change its bytes, and its
  /// tag, are the same.
  static let examplesAge = Duration.seconds(60)

  private struct Making {
    let task: Task<Rendered, any Error>
    let began: Timestamp
  }

  private let make: @Sendable (_ isFull: Bool) async throws -> JSONValue
  private let clock: WallClock
  private let makings = Mutex<[Bool: Making]>([:])

  /// - Parameter examples: reads the examples from the store.
  init(
    operations: [OperationDescription], version: String, clock: WallClock,
    source: @escaping @Sendable () throws -> OpenAPISource,
    examples: @escaping @Sendable () async -> PublicExamples.Found
  ) {
    self.clock = clock
    make = { isFull in
      let source = try source()
      return OpenAPIDocument(
        template: source.template, operations: operations, version: version, local: source.local,
        schemas: source.schemas, examples: await examples(), isFull: isFull
      ).value()
    }
  }

  /// - Parameter isFull: whether all paths of operations are listed.
  func document(isFull: Bool) async throws(Failure) -> Rendered {
    let now = clock.now()
    let making = makings.withLock { makings in
      if let known = makings[isFull], known.began.elapsed(until: now) < Self.examplesAge {
        return known.task
      }
      let begun = Task.detached { [make] in Rendered(try await make(isFull)) }
      makings[isFull] = Making(task: begun, began: now)
      return begun
    }
    do {
      return try await making.value
    } catch {
      throw Failure(.internal, "The OpenAPI document cannot be read.", cause: "\(error)")
    }
  }
}
